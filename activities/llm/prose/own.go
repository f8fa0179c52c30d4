package prose

import (
	"strings"
	"unicode/utf8"
)

const (
	// opening is the length in runes of the part of a message that holds its request.
	opening = 240
	// pasted is the length in runes from which a message is taken to be pasted in the main.
	pasted = 2000
)

// OwnWords returns where the words of a user's own end in a message, in bytes: text that follows a colon at the
// end of a line, or opens a letter, is handed over, and a long message is mostly pasted. A message
// that orders a text or a role is made of its terms alone.
func OwnWords(text string, hands bool) int {
	limit := len(text)
	if n := utf8.RuneCountInString(text); n > pasted || !hands && n > pasted/2 {
		limit = runeStart(text, pasted/4)
	}
	if !hands && ordersText(text[:runeStart(text, opening)]) {
		return 0
	}
	for start := 0; start < limit; {
		end := len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		line := strings.TrimSpace(text[start:end])
		if strings.HasPrefix(line, "Dear ") {
			return min(limit, start)
		}
		if _, head := Head(line); !head && (strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")) {
			return min(limit, end)
		}
		start = end + 1
	}
	return limit
}

// runeStart returns where the rune n of the text begins, or where the text ends.
func runeStart(text string, n int) int {
	for at := range text {
		if n == 0 {
			return at
		}
		n--
	}
	return len(text)
}

var (
	// textOrders open a message that asks for a text.
	textOrders = Set("write rewrite summarize translate paraphrase proofread continue rephrase act pretend imagine assume " +
		"suppose")
	// rolesGiven open a sentence that gives the assistant a role, rolesAsked follow the one who should play it.
	rolesGiven = []string{"you are a ", "you are an ", "you are the ", "you're a ", "you're an ", "you will be ",
		"from now on you ", "from now on, you ", "你是一", "你现在是", "你現在是", "你来当", "你來當", "你将是", "你將是", "您是一",
		"당신은 ", "너는 이제", "넌 이제", "あなたは"}
	rolesAsked = []string{"act as", "pretend ", "role play", "roleplay", "role-play"}
	players    = Set("please you to let's we then now and also i'll")
	// Orders in other languages may be anywhere in their sentence: the Chinese ones next to the one who is asked, the
	// others before a word that asks.
	hanRoles     = strings.Fields("扮演 假装 假裝 充当 充當 假设你 假設你")
	hanTexts     = strings.Fields("写 寫 翻译 翻譯 润色 潤色 续写 續寫 总结 總結 校对 校對")
	hanAsked     = strings.Fields("你 您 请 請 帮我 幫我 给我 給我")
	koreanRoles  = strings.Fields("역할 역을 척 연기 되어 롤플레이")
	koreanTexts  = strings.Fields("써 적어 작성 번역 요약 교정 다듬어")
	koreanAsks   = strings.Fields("줘 주세요 줄래 줄 주십시오 주라 다오 봐 해라 하세요 하십시오")
	japaneseRole = strings.Fields("演じて ふりをして 役をして 役になって なりきって として振る舞って ロールプレイ")
	japaneseText = strings.Fields("書いて 翻訳して 訳して 要約して 添削して 校正して 書き直して")
	japaneseAsks = strings.Fields("ください 下さい ほしい 欲しい くれ もらえ いただけ 頂け")
)

// ordersText reports whether a message asks for a text or a role to be made up: its first sentence for a
// text, any of them for a role.
func ordersText(opening string) bool {
	found, first := false, true
	Lines(opening, func(l Line) {
		for _, s := range Split(opening, l, nil) {
			sentence := strings.ToLower(opening[s.Start:s.End])
			found = found || givesRole(sentence) || first && asksForText(sentence)
			first = false
		}
	})
	return found
}

func givesRole(sentence string) bool {
	if strings.Contains(sentence, "i want you to") {
		return true
	}
	for _, p := range rolesGiven {
		if at := strings.Index(sentence, p); at >= 0 && Opens(sentence[:at]) && !Asks(sentence) {
			return true
		}
	}
	for _, p := range rolesAsked {
		at := strings.Index(sentence, p)
		if at < 0 || at > 0 && wordByte(sentence[at-1]) {
			continue
		}
		if before := Words(sentence[:at]); Opens(sentence[:at]) || len(before) > 0 && players[before[len(before)-1].Low] {
			return true
		}
	}
	return orderedIn(sentence, hanRoles, koreanRoles, japaneseRole)
}

func asksForText(sentence string) bool {
	words := Words(sentence)
	if first(words) == "please" {
		words = words[1:]
	}
	return textOrders[first(words)] || orderedIn(sentence, hanTexts, koreanTexts, japaneseText)
}

// orderedIn reports whether a sentence that is not English orders one of the things.
func orderedIn(sentence string, chinese, korean, japanese []string) bool {
	for _, o := range chinese {
		if at := strings.Index(sentence, o); at >= 0 && (Opens(sentence[:at]) || ContainsAny(sentence[:at], hanAsked)) {
			return true
		}
	}
	return ordered(sentence, korean, koreanAsks) || ordered(sentence, japanese, japaneseAsks)
}

// ordered reports whether the sentence ends with one of the things, or with one and a word that asks for it.
func ordered(sentence string, things, asks []string) bool {
	for _, o := range things {
		at := strings.LastIndex(sentence, o)
		if at >= 0 && (ends(sentence[at+len(o):]) || ContainsAny(sentence[at+len(o):], asks)) {
			return true
		}
	}
	return false
}
