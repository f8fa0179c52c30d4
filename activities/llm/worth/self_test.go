package worth

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// No weight was learned from these sentences. They are the examples and counterexamples of the grammar that taught a part of the weights.
var (
	tellsOfSelf = []string{
		"I'm a vegetarian.", "I just moved to Berlin.", "By the way, my daughter's birthday is in May.",
		"I work as a nurse at St. Mary's, and I'm looking for a snack recipe.", "I’ve got three cats.",
		"I have an antique tea set from my cousin Rachel.", "I was diagnosed with bronchitis on March 3rd.", "We bought a 2015 Toyota last month.",
		"I'm allergic to peanuts, so no satay.", "I've been taking yoga classes on Wednesdays.", "I usually take the 7:15 bus to work.",
		"I got 3 cats.", "I'm 34.", "I ran 5 miles with my team.", "I have a dog, and I wonder if you can help.",
		"I know how to cook, and I moved to Berlin.", "I love seafood.", "My favorite band is Radiohead.", "I'm planning a trip to Japan in March.",
		"I want to learn Spanish.", "I've been trying to cut sugar from my diet.", "I live in Porto and work from nine to five.",
		"저는 지난달에 베를린으로 이사했어요.", "제 딸 생일은 5월 3일이에요.", "저는 땅콩 알레르기가 있습니다.", "제 형은 간호사예요.",
		"我住在柏林。", "我女儿的生日是五月三号。", "对了，我对花生过敏。", "我們去年買了一輛車。", "我妈今年六十岁。", "我有两只猫。",
		"私の妻は看護師です。", "私は先月ベルリンに引っ越しました。", "私の娘の誕生日は5月3日です。", "僕はピーナッツアレルギーがあります。",
	}
	passingTalk = []string{
		"I'd like to ask about the best way to store my bread.", "Now write one in the style of Hemingway.", "Add 5 more like this.",
		"Can you help me find a recipe for my dog?", "I love that idea, I'll definitely check it out on Monday.",
		"I like your suggestions for Berlin.", "I think I'll go with the second one.", "I'm looking for a restaurant in Berlin.",
		"I was wondering if you know Radiohead.", "I never knew Berlin had so many lakes.", "I want to make sure my tires are properly inflated.",
		"If I moved to Berlin in May, what would I need?", "I have a question about my taxes.", "If the test fails again, I'm moving to Berlin.",
		"I got error 404.", "I got an error on line 3 of my code.", "I ran the script 3 times.", "I killed 3 processes.",
		"I restarted the server twice.", "I'm on line 3 of the script.", "She said \"I live in Berlin\".", "The charge is I = 1000 A.",
		"Our goal is to determine whether A influences B.", "저는 베를린이 궁금해요.", "저는 3일 동안 여행하고 싶어요.", "영어로 작성해주세요.",
		"我想知道柏林的大学怎么样。", "我觉得去年更好。", "帮我写一个故事。", "私は大学について知りたいです。", "3つ追加してください。", "私は大丈夫です。",
		"私は夫人ではない。", "私が3番を選びました。", "私のコードは昨日から動かない。", "전 세계 인구는 80억 명입니다.",
		"제 2차 세계대전은 1939년에 시작됐다.", "我国2023年GDP增长5.2%。", "我的代码昨天报错。", "我们第3题选B。", "我画了墨西哥地图。", "thanks!", "yes please",
	}
)

func TestSelfAgainstPassingTalk(t *testing.T) {
	t.Parallel()
	kept := func(said []string) (n int) {
		for _, s := range said {
			if len(Extract(conversation("u: "+s), false).Entries) > 0 {
				n++
			} else {
				t.Logf("nothing in %q", s)
			}
		}
		return n
	}
	of, talk := kept(tellsOfSelf), kept(passingTalk)
	t.Logf("kept %d of %d sentences of oneself, and %d of %d of passing talk", of, len(tellsOfSelf), talk, len(passingTalk))
	require.GreaterOrEqual(t, percent(of, len(tellsOfSelf)), 60.0)
	require.LessOrEqual(t, percent(talk, len(passingTalk)), 15.0)
}

// Words of others that a user hands over, and the terms of a role, are no memory of the user.
func TestWhoseWords(t *testing.T) {
	t.Parallel()
	filler := func(s string) string { return strings.Repeat(s, 900/utf8.RuneCountInString(s)) }
	for text, handedOver := range map[string]bool{
		"You are a pirate. I moved to Berlin in 2019.":                true,
		"Hello, you are a pirate. I moved to Berlin in 2019.":         true,
		"Okay! You will be my doctor. I'm allergic to peanuts.":       true,
		"Can you act as my doctor? I'm allergic to peanuts.":          true,
		"Translate: I moved to Berlin in 2019.":                       true,
		"Write a letter to my landlord. I moved to Berlin in May.":    true,
		"Fix the grammar of this:\nI live in Berlin with three cats.": true,
		"请扮演一位医生。我对花生过敏。":                                             true,
		"我想让你扮演医生。我对花生过敏。":                                            true,
		"你是一名医生。我对花生过敏。":                                              true,
		"幫我寫一封信。我住在柏林。":                                               true,
		"翻译下面的句子。我住在柏林。":                                              true,
		"의사 역할을 해줘. 저는 땅콩 알레르기가 있습니다.":                                true,
		"이 글을 번역해 주세요. 저는 베를린에 살고 있어요.":                               true,
		"医者を演じてください。私は先月ベルリンに引っ越しました。":                                true,
		"次の文を英語に翻訳して。私は先月ベルリンに引っ越しました。":                               true,
		filler("今天天气真好。") + filler("今天天气真好。") + "我住在柏林。":              true,

		"I know you are a bot, but I'm allergic to peanuts.":    false,
		"You are amazing, thanks! I moved to Berlin in 2019.":   false,
		"My brother is in fact as old as me. I live in Berlin.": false,
		"我住在柏林。帮我写一封信。":                                         false,
		"저는 베를린에 살고 있어요. 편지를 써 주세요.":                            false,
		"私は先月ベルリンに引っ越しました。手紙を書いてください。":                          false,
		filler("今日はとても天気がいいですね。") + "私は先月ベルリンに引っ越しました。":         false,
		filler("오늘은 날씨가 참 좋네요. ") + "저는 베를린에 살고 있어요.":           false,
		filler("今天天气真好。") + "我住在柏林。":                            false,
	} {
		all := split(conversation("u: "+text), false)
		require.Equal(t, handedOver, all[len(all)-1].handedOver, text)
		if handedOver {
			require.Empty(t, Extract(conversation("u: "+text), false).Entries, text)
		}
	}
}

// The preferences of an assistant, and its corrections, are none of the user.
func TestPreferencesAreTheUsers(t *testing.T) {
	t.Parallel()
	likely := func(of int) *weights {
		w := &weights{}
		for n := range heads {
			w.hashed[n] = make([]int8, buckets)
		}
		w.forms[headTypes+of][formBias] = 9
		return w
	}
	all := split(conversation("u: I prefer tabs.", "a: I prefer tabs."), false)
	for n, k := range kinds {
		w := likely(n)
		require.Equal(t, k, kindOf(w, features(all, 0), &all[0]))
		users := k.category == schema.CategoryPreference || k.category == schema.CategoryCorrection
		require.Equal(t, !users, k == kindOf(w, features(all, 1), &all[1]), k.label)
	}
}

// TestQuotesOfConversations holds quotes to whole sentences where people wrote them.
func TestQuotesOfConversations(t *testing.T) {
	t.Parallel()
	for _, c := range conversations(t, "dev")[:200/sharedtest.Share()] {
		requireSound(t, c.window())
		for _, works := range []bool{false, true} {
			requireWhole(t, c.window(), Extract(c.window(), works).Entries)
		}
	}
}
