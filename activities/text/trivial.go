package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxTrivial is the length in bytes at which a text is assumed to say something.
const maxTrivial = 200

// acknowledgements are phrases by which people show that they have read something, by language. They state nothing.
// Praise that confirms a result, such as "exactly", is not among them, and neither are orders such as "go on".
const acknowledgements = `
	ok|okay|okey|okie|okey dokey|oki|k|kk|o k|alright|all right|sure|sure thing|fine|yes|yes please|yep|yup|yeah|ya|aye
	thanks|thank you|thank u|thankyou|thx|thnx|tnx|tks|ty|tysm|cheers|much appreciated|appreciated|i appreciate it|many thanks
	thanks a lot|thanks a bunch|thank you very much|thank you so much|thanks so much|thanks again|thank you again
	thanks for that|thanks for your help|thanks for the help|thank you for your help|thank you for the help
	great|cool|nice|good|awesome|excellent|wonderful|amazing|brilliant|lovely|neat|sweet|super|very good|very nice|nice one
	good job|great job|nice job|nice work|good work|great work|well done|sounds good|sounds great|looks good|looks great
	got it|gotcha|understood|i see|i understand|i got it|makes sense|that makes sense|noted|roger|roger that|copy that|copy
	will do|no problem|no worries|np|you re welcome|youre welcome|lgtm|works for me|hm|hmm|mhm|ah|aha|oh|haha|lol|wow
	好|好的|好吧|好呀|好啊|好嘞|好哒|好滴|好了|好喔|行|行吧|可以|可以的|嗯|嗯嗯|嗯呢|哦|噢|哦哦|喔|是|是的|没问题|沒問題|没事|收到|了解|了解了|瞭解
	明白|明白了|懂了|知道了|我知道了|我明白了|谢谢|謝謝|谢谢你|謝謝你|谢谢您|謝謝您|谢啦|谢了|多谢|多謝|感谢|感謝|非常感谢|非常感謝
	辛苦了|太好了|太棒了|很好|不错|不錯|棒|赞|讚|哈哈|唔該|多謝晒|冇問題
	はい|ええ|うん|オッケー|オーケー|オケ|おけ|おっけー|了解|了解です|了解しました|了解いたしました|承知しました|承知いたしました|承知です
	わかりました|分かりました|わかった|分かった|なるほど|ありがとう|ありがとうございます|ありがとうございました|ありがと|有難う|有難うございます|有り難うございます
	どうもありがとうございます|どうも|サンキュー|助かります|助かりました|いいね|いいですね|素晴らしい|すごい|お疲れ様です|お疲れ様でした|大丈夫です
	네|넵|넹|넴|예|응|웅|어|그래|그래요|알겠습니다|알겠어요|알겠어|알았어|알았어요|알았습니다|오케이|오케|ㅇㅋ|ㅇㅇ|확인|확인했습니다|확인했어요|이해했습니다|이해했어요
	감사합니다|감사해요|감사|고마워|고마워요|고맙습니다|정말 감사합니다|정말 고마워요|땡큐|좋아|좋아요|좋습니다|좋네요|굿|수고하셨습니다|수고했어요|ㅋㅋ|ㅋㅋㅋ|ㅎㅎ
	danke|danke schön|danke sehr|vielen dank|dankeschön|dankeschon|besten dank|herzlichen dank|alles klar|in ordnung|gut|sehr gut|prima|verstanden|ja|passt|genial|klasse|super danke
	merci|merci beaucoup|mille mercis|d accord|daccord|très bien|tres bien|entendu|compris|oui|parfait merci|génial|ça marche|ca marche|bien reçu|bien
	gracias|muchas gracias|mil gracias|vale|de acuerdo|bueno|muy bien|bien|genial|entendido|perfecto gracias|sí|si|claro|listo|estupendo
	obrigado|obrigada|muito obrigado|muito obrigada|valeu|beleza|certo|entendi|tudo bem|tá bom|ta bom|está bem|sim|ótimo|otimo|legal
	grazie|grazie mille|molte grazie|va bene|d accordo|daccordo|capito|ho capito|ottimo|bene|sì
	спасибо|большое спасибо|спасибо большое|благодарю|ок|окей|хорошо|ладно|понял|поняла|понятно|ясно|отлично|да|ага|угу|супер|круто|дякую|добре|зрозуміло
	bedankt|dank je|dank je wel|dankjewel|dank u|dank u wel|oké|prima|goed|begrepen|top|duidelijk
	teşekkürler|teşekkür ederim|çok teşekkürler|sağ ol|sağol|tamam|tamamdır|peki|anladım|evet|harika|güzel
	شكرا|شكراً|شكرا جزيلا|شكرا لك|حسنا|حسناً|تمام|طيب|موافق|فهمت|نعم|اوكي|أوكي|ممتاز
	धन्यवाद|बहुत धन्यवाद|शुक्रिया|ठीक है|ठीक|अच्छा|हाँ|हां|समझ गया|समझ गई|जी
	cảm ơn|cám ơn|cảm ơn bạn|cảm ơn nhiều|được|được rồi|vâng|dạ|hiểu rồi|tốt|tuyệt vời
	ขอบคุณ|ขอบคุณครับ|ขอบคุณค่ะ|ขอบคุณมาก|ขอบคุณมากครับ|ขอบคุณมากค่ะ|โอเค|ตกลง|ครับ|ค่ะ|เข้าใจแล้ว|ได้|ได้ครับ|ได้ค่ะ|ใช่|ดีมาก
	terima kasih|makasih|makasi|trims|baik|oke|siap|mengerti|ya
	dziękuję|dzięki|dziekuje|dzieki|wielkie dzięki|dobrze|rozumiem|jasne|tak|spoko|dobra
	tack|tack så mycket|tusen tack|takk|tak|mange tak|tusen takk|kiitos|kiitoksia|selvä|okej|bra|köszönöm|köszi|rendben|díky|děkuji|dobře|mulțumesc|mersi|bine|ευχαριστώ|εντάξει|תודה|בסדר
`

// nods are emoji that alone acknowledge.
const nods = "👍👌🙏👏🙌💯✅✔☑🆗😊🙂😀😁😃😄😆😉😍🥰🤝🫡❤♥💙💚💛🧡💜🎉🚀✨🔥⭐🌟😂🤣😅☺"

// trivialPhrases are the acknowledgements in their trivial form, by their first rune.
var trivialPhrases = sync.OnceValue(func() map[rune][]string {
	phrases := map[rune][]string{}
	for line := range strings.Lines(acknowledgements) {
		for phrase := range strings.SplitSeq(strings.TrimSpace(line), "|") {
			if phrase = trivialForm(phrase); phrase != "" {
				first, _ := utf8.DecodeRuneInString(phrase)
				phrases[first] = append(phrases[first], phrase)
			}
		}
	}
	return phrases
})

// Trivial reports whether a text only acknowledges: "ok", "Thanks!", "好的，谢谢", "ありがとうございます 🙏". Case,
// punctuation, emoji and white space do not count. It is false if anything else is said, and if nothing is.
func Trivial(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxTrivial {
		return false
	}
	form := trivialForm(text)
	if form == "" {
		return isAckEmoji(text)
	}
	// reached are the places up to which the form is made of acknowledgements.
	reached := make([]bool, len(form)+1)
	reached[0] = true
	for at := range form {
		if !reached[at] {
			continue
		}
		if form[at] == ' ' {
			reached[at+1] = true
			continue
		}
		first, _ := utf8.DecodeRuneInString(form[at:])
		for _, phrase := range trivialPhrases()[first] {
			if strings.HasPrefix(form[at:], phrase) && endsWord(form, at+len(phrase)) {
				reached[at+len(phrase)] = true
			}
		}
	}
	return reached[len(form)]
}

// trivialForm returns a text without case, with one space for all that is no letter, digit or accent.
func trivialForm(text string) string {
	visible := strings.Map(func(r rune) rune {
		if Ignored(r) {
			return -1
		}
		return r
	}, Caseless(text))
	words := strings.FieldsFunc(visible, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
	return strings.Join(words, " ")
}

// endsWord reports whether a word ends at a place of a form. Words of scripts that put no spaces between them end
// anywhere.
func endsWord(form string, at int) bool {
	if at == len(form) || form[at] == ' ' {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(form[:at])
	return unicode.In(before, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) || before == 'ー'
}

// isAckEmoji reports whether a text without words holds an emoji that acknowledges, and no other symbol or question mark.
func isAckEmoji(text string) bool {
	found := false
	for _, r := range text {
		switch {
		case strings.ContainsRune(nods, r):
			found = true
		case unicode.Is(unicode.S, r) && !(0x1f3fb <= r && r <= 0x1f3ff), r == '?', r == '？', r == '؟':
			return false // All symbols but tones of skin.
		}
	}
	return found
}
