package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// self makes an entry of what a user says of itself, of its people, things and plans.
func (x *extractor) self(l line, s span, sentence string) {
	const longest = 400
	if x.m.Role != schema.RoleUser || s.start >= x.own || utf8.RuneCountInString(sentence) > longest ||
		quoted(x.m.Text[x.spot[0].start:s.start]) || asks(sentence) {
		return
	}
	st := englishStatement(sentence)
	if !st.says() {
		st = tongueStatement(sentence)
	}
	if !st.says() {
		return
	}
	e := schema.ExtractedEntry{Type: schema.EntryFact, Category: st.category, Title: clean(sentence)}
	read := s
	if n := slices.Index(x.spot, s); st.points && n > 0 {
		read.start = x.spot[n-1].start
		e.Content = clean(x.m.Text[read.start:s.end])
	} else if st.hangs {
		return
	}
	if st.task {
		e.Type, e.Category = schema.EntryTaskNote, ""
		e.Task = &schema.ExtractedTask{Title: clean(sentence[st.start:st.end]), Status: schema.TaskPending}
	}
	confidence := task.weight()
	switch e.Category {
	case schema.CategoryPreference:
		confidence = preference.weight()
	case schema.CategoryGoal:
		confidence = goal.weight()
	}
	quote := x.quoteOf(span{l.start, l.end}, read)
	x.add(e, confidence, quote)
	if e.Category == schema.CategoryContext && e.Content == "" {
		x.sum(sentence, quote)
	}
}

// tongue is a language whose words stand unparted: a sentence speaks of the speaker where it opens
// with the subject, holds a word of life, and no word of the talk.
type tongue struct {
	subjects, life, talk []string
	// kin are short words of life that are parts of other words too: isKin says where one stands for itself.
	kin   []string
	isKin func(rest string, start, end int) bool
	// others follow the subject where it speaks of more people than the speaker's own, such as a country.
	others []string
}

var tongues = []tongue{
	{
		subjects: strings.Fields("我们 我們 我家 我的 咱们 我"),
		life: strings.Fields("住在 搬到 搬家 来自 來自 工作 上班 任职 任職 毕业 畢業 老婆 妻子 丈夫 老公 女儿 女兒 儿子 兒子 妈妈 媽媽 爸爸 姐姐 哥哥 弟弟 妹妹 " +
			"父母 父亲 父親 母亲 母親 朋友 同事 老板 老闆 只狗 隻狗 条狗 條狗 小狗 只猫 隻貓 小猫 小貓 养了 養了 买了 買了 过敏 過敏 吃素 素食 结婚 結婚 怀孕 懷孕 生日 出生 今年 每天 每周 每週 " +
			"每年 每月 昨天 上周 上週 上个月 上個月 去年 前年 最近 刚刚 剛剛 明天 下周 下週 下个月 下個月 明年 周末 週末 " +
			"医生 醫生 律师 律師 老师 老師 工程师 工程師 学生 學生 公司 大学 大學"),
		talk: strings.Fields("想 觉得 覺得 认为 認為 知道 希望 问 問 需要 要 看 明白 理解 懂 说 說 能 可以 应该 應該 好奇 给我 給我 让 讓 请 請 怎么 怎麼 " +
			"如何 什么 什麼 谢 謝 如果 假设 假設 你 您 这个 這個 上面 以下 " +
			"代码 代碼 程式 脚本 腳本 报错 報錯 函数 函數"),
		kin:    strings.Fields("妈 媽 爸 姐 哥 弟 妹 狗 猫 貓"),
		isKin:  func(_ string, start, _ int) bool { return start == 0 },
		others: strings.Fields("国 國 省 市 校 司 方 军 軍 党 黨 区 區 的国 的國"),
	},
	{
		subjects: strings.Fields("저는 나는 난 제가 내가 제 내 저희 우리"),
		life: strings.Fields("살고 살아 살았 삽니다 이사 다니 일하 일해 근무 전공 졸업 아내 남편 아들 엄마 어머니 아빠 아버지 언니 누나 오빠 동생 " +
			"친구 강아지 고양이 키우 키워 샀 구입 알레르기 채식 비건 결혼 임신 생일 태어 매일 매주 매년 매달 어제 지난 작년 최근 " +
			"내일 다음주 다음달 내년 주말 의사 변호사 교사 개발자 엔지니어 학생 회사 대학"),
		talk: strings.Fields("생각 궁금 모르 싶 원하 원해 필요 부탁 질문 물어 줘 주세요 주십 알려 이해 만약 라면 당신 이거 그거 위의 아래 " +
			"코드 스크립트 에러 오류"),
		kin:    strings.Fields("딸 형"),
		isKin:  koreanWord,
		others: strings.Fields("나라 사회 인류 지구 은하 태양"),
	},
	{
		subjects: strings.Fields("私は 僕は 俺は わたしは ぼくは 私の 僕の 私が 僕が うちの 私たちは"),
		life: strings.Fields("住んで 住み 引っ越 働い 勤め 専攻 卒業 息子 母親 父親 兄弟 姉妹 友達 友人 愛犬 子犬 子猫 飼って 買いました 買った アレルギー " +
			"ベジタリアン ヴィーガン 結婚 妊娠 誕生日 生まれ 毎日 毎週 毎年 毎月 昨日 先週 先月 去年 最近 明日 来週 来月 来年 週末 医者 弁護士 教師 " +
			"エンジニア 学生 会社 大学"),
		talk: strings.Fields("思 知りたい たい 欲しい ください 下さい 教えて 質問 わから 分から お願い もし あなた 上の 以下 " +
			"コード スクリプト エラー"),
		kin:   strings.Fields("妻 夫 娘 母 父 姉 兄 弟 妹 犬 猫"),
		isKin: kanjiWord,
	},
}

func tongueStatement(sentence string) statement {
	for i := range tongues {
		t := &tongues[i]
		for _, subject := range t.subjects {
			at := strings.Index(sentence, subject)
			if at < 0 || !opens(sentence[:at]) {
				continue
			}
			rest := sentence[at+len(subject):]
			if unspaced := isHangul(subject) && !strings.HasPrefix(rest, " "); unspaced || containsAny(rest, t.talk) {
				continue
			}
			if t.ofOthers(rest) {
				return nothing
			}
			if containsAny(rest, t.life) || t.namesKin(rest) {
				return circumstance
			}
		}
	}
	return nothing
}

// ofOthers reports whether what follows the subject makes it a country or an ordinal, such as "제 2차".
func (t *tongue) ofOthers(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	if r, _ := utf8.DecodeRuneInString(rest); isHangul(t.subjects[0]) && unicode.IsDigit(r) {
		return true
	}
	return slices.ContainsFunc(t.others, func(o string) bool { return strings.HasPrefix(rest, o) })
}

func (t *tongue) namesKin(rest string) bool {
	for _, kin := range t.kin {
		for from := 0; ; {
			at := strings.Index(rest[from:], kin)
			if at < 0 {
				break
			}
			start := from + at
			from = start + len(kin)
			if t.isKin(rest, start, from) {
				return true
			}
		}
	}
	return false
}

// kanjiWord reports whether no other kanji stands beside the word: 大丈夫 is no 夫.
func kanjiWord(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return !unicode.Is(unicode.Han, before) && !unicode.Is(unicode.Han, after)
}

// koreanWord reports whether the word stands between spaces, but for a particle: 딸기 is no 딸.
func koreanWord(s string, start, end int) bool {
	if start > 0 && s[start-1] != ' ' {
		return false
	}
	word, _, _ := strings.Cut(s[end:], " ")
	switch strings.TrimRightFunc(word, unicode.IsPunct) {
	case "", "이", "은", "을", "과", "의", "도", "만", "이랑", "에게", "한테", "이는", "이가", "이의", "이에요", "입니다":
		return true
	}
	return false
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
