package rules

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestWhatPeopleSayOfThemselves(t *testing.T) {
	t.Parallel()
	const (
		circumstance = schema.CategoryContext
		habit        = schema.CategoryBehavior
		taste        = schema.CategoryPreference
		goal         = schema.CategoryGoal
	)
	tests := map[string]string{
		"I'm a vegetarian.":                                                    circumstance,
		"I just moved to Berlin.":                                              circumstance,
		"By the way, my daughter's birthday is in May.":                        circumstance,
		"I work as a nurse at St. Mary's, and I'm looking for a snack recipe.": circumstance,
		"I’ve got three cats.":                                                 circumstance,
		"I have an antique tea set from my cousin Rachel.":                     circumstance,
		"I was diagnosed with bronchitis on March 3rd.":                        circumstance,
		"We bought a 2015 Toyota last month.":                                  circumstance,
		"I'm allergic to peanuts, so no satay.":                                circumstance,
		"I've been taking yoga classes on Wednesdays.":                         habit,
		"I usually take the 7:15 bus to work.":                                 habit,
		"I got 3 cats.":                                                        circumstance,
		"I'm 34.":                                                              circumstance,
		"I ran 5 miles with my team.":                                          circumstance,
		"I have a dog, and I wonder if you can help.":                          circumstance,
		"I know how to cook, and I moved to Berlin.":                           circumstance,
		"I love seafood.":                                                      taste,
		"My favorite band is Radiohead.":                                       taste,
		"I'm planning a trip to Japan in March.":                               goal,
		"I want to learn Spanish.":                                             goal,
		"I've been trying to cut sugar from my diet.":                          goal,
		"저는 지난달에 베를린으로 이사했어요.":                                                 circumstance,
		"제 딸 생일은 5월 3일이에요.":                                                    circumstance,
		"저는 땅콩 알레르기가 있습니다.":                                                    circumstance,
		"我住在柏林。":                                                               circumstance,
		"我女儿的生日是五月三号。":                                                         circumstance,
		"对了，我对花生过敏。":                                                           circumstance,
		"我們去年買了一輛車。":                                                           circumstance,
		"我妈今年六十岁。":                                                             circumstance,
		"我有两只猫。":                                                               circumstance,
		"私の妻は看護師です。":                                                           circumstance,
		"제 형은 간호사예요.":                                                          circumstance,
		"私は先月ベルリンに引っ越しました。":                                                    circumstance,
		"私の娘の誕生日は5月3日です。":                                                      circumstance,
		"僕はピーナッツアレルギーがあります。":                                                   circumstance,
	}
	for text, category := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got := withoutSummaries(Extract(say(schema.RoleUser, text), false).Entries)
			require.Len(t, got, 1)
			require.Equal(t, schema.EntryFact, got[0].Type)
			require.Equal(t, category, got[0].Category)
			require.Equal(t, text, got[0].Title)
			require.Empty(t, Extract(say(schema.RoleAssistant, text), false).Entries, "said by the assistant")
		})
	}
}

func TestPassingTalk(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"I'd like to ask about the best way to store my bread.",
		"Now write one in the style of Hemingway.",
		"Add 5 more like this.",
		"Can you help me find a recipe for my dog?",
		"I love that idea, I'll definitely check it out on Monday.",
		"I like your suggestions for Berlin.",
		"I think I'll go with the second one.",
		"I'm looking for a restaurant in Berlin.",
		"I was wondering if you know Radiohead.",
		"I never knew Berlin had so many lakes.",
		"I want to make sure my tires are properly inflated.",
		"If I moved to Berlin in May, what would I need?",
		"I have a question about my taxes.",
		"If the test fails again, I'm moving to Berlin.", "Suppose the test fails again, then I'm moving to Berlin.",
		"The test is red, and if it fails again, I'm moving to Berlin.",
		"I got error 404.", "I got an error on line 3 of my code.", "I ran the script 3 times.", "I killed 3 processes.",
		"I killed three processes.", "I've added 2 lines.", "I restarted the server twice.", "I'm on line 3 of the script.",
		"I want you to act as my doctor. I have three cats.",
		"Write a letter to my landlord. I moved to Berlin in May.",
		"Fix the grammar of this:\nI live in Berlin with three cats.",
		"She said \"I live in Berlin\".",
		"The charge is I = 1000 A.",
		"Our goal is to determine whether A influences B.",
		"저는 베를린이 궁금해요.", "저는 3일 동안 여행하고 싶어요.", "영어로 작성해주세요.",
		"我想知道柏林的大学怎么样。", "我觉得去年更好。", "帮我写一个故事。",
		"私は大学について知りたいです。", "3つ追加してください。",
		"私は大丈夫です。", "私は夫人ではない。", "私が3番を選びました。", "私のコードは昨日から動かない。",
		"전 세계 인구는 80억 명입니다.", "전 세계 대학은 많습니다.", "제 2차 세계대전은 1939년에 시작됐다.", "제 2차 세계대전은 작년에 나온 영화다.",
		"우리 은하의 나이는 136억 년이다.", "우리 나라 대학은 작년에 줄었다.", "나는 2번이 맞아.", "저는 딸기 5개를 골랐어요.", "제 코드가 어제부터 안 돌아가요.",
		"我国2023年GDP增长5.2%。", "我國去年GDP增長5.2%。", "我们国家去年增长5.2%。", "我的代码第3行报错。", "我的代码昨天报错。",
		"我们第3题选B。", "我画了墨西哥地图。", "我吃了2个热狗。",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, Extract(say(schema.RoleUser, text), false).Entries)
		})
	}
}

// TestWhoseWords tells what people say of themselves from the terms of a role or a text.
func TestWhoseWords(t *testing.T) {
	t.Parallel()
	filler := func(s string) string { return strings.Repeat(s, 900/utf8.RuneCountInString(s)) }
	for text, facts := range map[string]int{
		"I know you are a bot, but I'm allergic to peanuts.":    1,
		"You know, I moved to Berlin in 2019.":                  1,
		"You are amazing, thanks! I moved to Berlin in 2019.":   1,
		"My brother is in fact as old as me. I live in Berlin.": 2,
		"You are a pirate. I moved to Berlin in 2019.":          0,
		"Hello, you are a pirate. I moved to Berlin in 2019.":   0,
		"Okay! You will be my doctor. I'm allergic to peanuts.": 0,
		"Can you act as my doctor? I'm allergic to peanuts.":    0,
		"Translate: I moved to Berlin in 2019.":                 0,
		"请扮演一位医生。我对花生过敏。":                                       0,
		"我想让你扮演医生。我对花生过敏。":                                      0,
		"你是一名医生。我对花生过敏。":                                        0,
		"幫我寫一封信。我住在柏林。":                                         0,
		"翻译下面的句子。我住在柏林。":                                        0,
		"我住在柏林。帮我写一封信。":                                         1,
		"의사 역할을 해줘. 저는 땅콩 알레르기가 있습니다.":                          0,
		"이 글을 번역해 주세요. 저는 베를린에 살고 있어요.":                         0,
		"저는 베를린에 살고 있어요. 편지를 써 주세요.":                            1,
		"医者を演じてください。私は先月ベルリンに引っ越しました。":                          0,
		"次の文を英語に翻訳して。私は先月ベルリンに引っ越しました。":                         0,
		"私は先月ベルリンに引っ越しました。手紙を書いてください。":                          1,
		filler("今日はとても天気がいいですね。") + "私は先月ベルリンに引っ越しました。":         1,
		filler("오늘은 날씨가 참 좋네요. ") + "저는 베를린에 살고 있어요.":           1,
		filler("今天天气真好。") + "我住在柏林。":                            1,
		filler("今天天气真好。") + filler("今天天气真好。") + "我住在柏林。":        0,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.Len(t, withoutSummaries(Extract(say(schema.RoleUser, text), false).Entries), facts)
		})
	}
}

func TestLongRequestsAreCountedInRunes(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("今天天气真好。", 150)
	require.Len(t, tasks(say(schema.RoleUser, filler+"修复登录错误"), true), 1)
	require.Empty(t, tasks(say(schema.RoleUser, filler+filler+"修复登录错误"), true))
}

func TestAdviceIsNoTask(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"- **Improved accuracy**: the approach was shown to work well.",
		"- Optimize your profile: add a photo.",
		"Remember, the goal is to have fun.",
		"First, we need to convert the table.",
		"Let's use the formula for heat.",
		"Once the bread is done, let it cool.",
		"I've updated the list:\n- bread\n- milk",
		"Before making a final decision, read the reviews.",
		"See https://example.com/bread for more.", "In the end, the decision is yours.",
		"먼저 표를 변환해야 합니다.", "我们需要先转换表格。", "表を変換する必要があります。",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, Extract(say(schema.RoleAssistant, text), false).Entries)
		})
	}
}

// TestAgentAtWork holds the words that are talk in a chat and reports where tools are called.
func TestAgentAtWork(t *testing.T) {
	t.Parallel()
	tests := []struct {
		role   schema.Role
		text   string
		status schema.TaskStatus
		title  string
	}{
		{schema.RoleUser, "Fix the flaky test", schema.TaskPending, "Fix the flaky test"},
		{schema.RoleAssistant, "Added retry logic to the client.", schema.TaskDone, "Add retry logic to the client"},
		{schema.RoleAssistant, "I fixed the flaky test.", schema.TaskDone, "Fix the flaky test"},
		{schema.RoleAssistant, "Next I will port the importer.", schema.TaskPending, "port the importer"},
		{schema.RoleAssistant, "We need to rotate the keys.", schema.TaskPending, "rotate the keys"},
		{schema.RoleAssistant, "The deploy is waiting for the review.", schema.TaskBlocked, "The deploy"},
		{schema.RoleUser, "로그인 버그를 고쳐줘", schema.TaskPending, "로그인 버그를 고쳐줘"},
		{schema.RoleUser, "修复登录错误", schema.TaskPending, "修复登录错误"},
		{schema.RoleUser, "ログを追加してください。", schema.TaskPending, "ログを追加してください"},
	}
	for _, tc := range tests {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			window := say(tc.role, tc.text, "ok")
			window[1].Index = 5
			require.Empty(t, tasks(window, false), "in a chat with thoughts left out")
			got := tasks(window, true)
			require.Len(t, got, 1, "where tools are called")
			require.Equal(t, tc.status, got[0].Status)
			require.Equal(t, tc.title, got[0].Title)
		})
	}
}

func tasks(window []schema.Message, works bool) []*schema.ExtractedTask {
	var out []*schema.ExtractedTask
	for _, e := range Extract(window, works).Entries {
		if e.Task != nil {
			out = append(out, e.Task)
		}
	}
	return out
}

func TestOwnTasks(t *testing.T) {
	t.Parallel()
	got := Extract(say(schema.RoleUser, "I need to pick up my dry cleaning, and I have no idea when."), false).Entries
	require.Len(t, got, 1)
	require.Equal(t, schema.EntryTaskNote, got[0].Type)
	require.Equal(t, "pick up my dry cleaning", got[0].Task.Title)
	require.Equal(t, schema.TaskPending, got[0].Task.Status)
}

func TestPronounsBringTheSentenceBefore(t *testing.T) {
	t.Parallel()
	got := Extract(say(schema.RoleUser, "The bike is great. I bought it in May from my uncle."), false).Entries
	require.Len(t, got, 1)
	require.Equal(t, "The bike is great. I bought it in May from my uncle.", got[0].Content)
	require.Empty(t, Extract(say(schema.RoleUser, "I bought it in May from my uncle."), false).Entries, "nobody knows what")
}
