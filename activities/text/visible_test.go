package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ given, want string }{
		"colour":               {"\x1b[31mred\x1b[0m", "<U+001B>[31mred<U+001B>[0m"},
		"link":                 {"\x1b]8;;http://evil\x1b\\safe\x1b]8;;\a", "<U+001B>]8;;http://evil<U+001B>\\safe<U+001B>]8;;<U+0007>"},
		"window title":         {"\x1b]0;owned\a", "<U+001B>]0;owned<U+0007>"},
		"C1":                   {"\u009b31m\u0090q\u009c\u0085", "<U+009B>31m<U+0090>q<U+009C><U+0085>"},
		"C1 as bytes":          {"\x9b31m", "<0x9B>31m"},
		"carriage return":      {"failed\rsuccess", "failed<U+000D>success"},
		"line of Windows":      {"one\r\ntwo\r\r\n", "one\ntwo<U+000D>\n"},
		"backspace and delete": {"no\b\byes\x7f", "no<U+0008><U+0008>yes<U+007F>"},
		"NUL":                  {"a\x00b", "a<U+0000>b"},
		"bidi override":        {"a\u202eexe.txt\u202c", "a<U+202E>exe.txt<U+202C>"},
		"bidi isolates, marks": {"\u2066a\u2069\u200e\u200f\u061c", "<U+2066>a<U+2069><U+200E><U+200F><U+061C>"},
		"zero width":           {"a\u200bb\ufeffc\u2060d\u00ade", "a<U+200B>b<U+FEFF>c<U+2060>d<U+00AD>e"},
		"separators":           {"a\u2028b\u2029c", "a<U+2028>b<U+2029>c"},
		"fillers":              {"\u3164\u115f\uffa0\u034f", "<U+3164><U+115F><U+FFA0><U+034F>"},
		"tags":                 {"hi\U000e0001\U000e0068\U000e0069", "hi<U+E0001><U+E0068><U+E0069>"},
		"tags after a flag":    {"🏴\U000e0068\U000e0069\U000e007f", "🏴<U+E0068><U+E0069><U+E007F>"},
		"joiner of letters":    {"ad\u200dmin", "ad<U+200D>min"},
		"joiner at the end":    {"👩\u200d", "👩<U+200D>"},
		"two joiners":          {"👩\u200d\u200d🚀", "👩<U+200D><U+200D>🚀"},
		"hidden in styles":     {"🙂\ufe0f\ufe01\U000e0120\U000e0121", "🙂\ufe0f<U+FE01><U+E0120><U+E0121>"},
		"style of a letter":    {"a\ufe0f", "a<U+FE0F>"},
		"tab and line feed":    {"a\tb\nc", "a\tb\nc"},
		"replacement":          {"a\ufffdb", "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, Visible(tt.given))
		})
	}
}

// Ordinary text stays as it is, with the characters without a glyph that it needs.
func TestVisibleKeeps(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"plain, “quoted” – 50 € · naïve", "프로젝트 결정", "什么时候发布", "検索の方法", "שלום", "может быть", "ก็ได้", "क्षत्रिय",
		"👩\u200d🚀", "👨🏽\u200d🚀", "👩\u200d❤️\u200d👨", "🏳️\u200d🌈", "👁️\u200d🗨️", "🧑\u200d🧑\u200d🧒", "🙂\u200d↔️", "⛹🏻\u200d♀️", "🐻\u200d❄️",
		"1️⃣ #️⃣ ❤️ ☎︎ ©️ ™️ ℹ️ ‼️ 〰️", "🇰🇷 🇩🇪", "🏴" + flags[0] + " 🏴" + flags[2], "葛\U000e0100飾区",
		"می\u200cخواهم", "ක්\u200dෂ", "न्\u200d", "ᠮᠣᠩᠭᠣᠯ\u180eᠠ", "ᠠ\u180b", "≩\ufe00", "\u0600١٢",
	} {
		require.Equal(t, text, Visible(text))
	}
}

// For any input, the output contains no command, hides nothing, and is not changed again.
func TestVisibleProperty(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("a1👩🚀\u200d\ufe0f\u202e\r\n\x1b🏴한م")), 0, 12, -1),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(piece).Draw(t, "pieces")
		shown := Visible(strings.Join(pieces, ""))
		require.True(t, utf8.ValidString(shown))
		require.Equal(t, shown, Visible(shown))
		for _, r := range shown {
			require.False(t, unicode.IsControl(r) && r != '\n' && r != '\t', "%U", r)
			require.False(t, unicode.Is(unicode.Bidi_Control, r), "%U", r)
		}
		var out bytes.Buffer
		w := &Writer{To: &out}
		for _, p := range pieces {
			n, err := w.Write([]byte(p))
			require.NoError(t, err)
			require.Equal(t, len(p), n)
		}
		require.NoError(t, w.Flush())
		require.Equal(t, shown, out.String(), "however it is cut")
	})
}
