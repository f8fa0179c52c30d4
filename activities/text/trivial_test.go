package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTrivial(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"ok", "OK.", " Ok!! ", "thanks", "Thank you so much!", "Great, thank you :)", "ok ok", "got it, thanks 🙏", "You're welcome.",
		"好的", "好的，谢谢！", "好的谢谢", "嗯嗯", "收到", "謝謝您", "ありがとう", "ありがとうございます！！", "了解です。ありがとうございます", "オッケー",
		"감사합니다", "네, 알겠습니다.", "네 감사합니다~", "ㅇㅋ", "Danke schön!", "Vielen Dank", "merci beaucoup", "d'accord", "D’accord, merci !",
		"¡Muchas gracias!", "va bene, grazie", "Спасибо!", "понял, спасибо", "Teşekkürler", "شكرا", "धन्यवाद", "ठीक है", "cảm ơn", "ขอบคุณครับ",
		"terima kasih", "dziękuję", "👍", "👍🏽", "❤️", "🙏🙏", "ＯＫ", "t\u200bhanks", "**ok**",
	} {
		require.True(t, Trivial(s), s)
	}
	for _, s := range []string{
		"", "  ", "...", "?", "👍?", "no", "ok, use tabs", "thanks, but no", "not ok", "okra", "I like tea", "continue", "exactly", "perfect!",
		"好的，用 tabs", "好人", "不好", "不用谢谢", "ありがとうと言った", "네트워크", "감사합니다만 아니요", "dankbar", "sigh", "1", "ok 1", "👩‍👩‍👧", "ok?no",
		strings.Repeat("ok ", 100),
	} {
		require.False(t, Trivial(s), s)
	}
}

// Punctuation, case and spaces around it change nothing, and neither does an acknowledgement more.
func TestTrivialIgnoresDress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"ok", "thanks", "好的", "ありがとう", "감사합니다", "merci", "tea", "不", "네트워크", "спасибо"})
		words := rapid.SliceOfN(word, 1, 4).Draw(t, "words")
		mark := rapid.SampledFrom([]string{" ", "!", ", ", "…", "。", "\n", " 👍 ", "~"})
		dressed := mark.Draw(t, "before")
		for _, w := range words {
			if rapid.Bool().Draw(t, "upper") {
				w = strings.ToUpper(w)
			}
			dressed += w + mark.Draw(t, "after")
		}
		require.Equal(t, Trivial(strings.Join(words, " ")), Trivial(dressed), "%q", dressed)
	})
}

func FuzzTrivial(f *testing.F) {
	f.Add("ok")
	f.Add("好的，谢谢👍")
	f.Fuzz(func(t *testing.T, text string) {
		if Trivial(text) != Trivial(" "+text+"! ") && len(text) < maxTrivial-3 && strings.TrimSpace(text) != "" {
			t.Fatalf("%q is not what it is with a mark behind it", text)
		}
	})
}
