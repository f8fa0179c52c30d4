package text

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"empty", " \t\n", ""},
		{"punctuation alone", "?! … -- ++", ""},
		{"english", "We decided to use PostgreSQL.", "decid use postgresql postgr sql"},
		{"inflections meet", "deploys deploying deployed deploy", "deploy deploy deploy deploy"},
		{"languages differ", "C++ vs C# vs .NET", "c++ c vs c# c vs .net net"},
		{"numbers differ", "1.5 15", "1.5 1 5 15"},
		{"path", "activities/vector/client.go", "activities/vector/client.go activ vector client go"},
		{"compatibility forms", "ＡＰＩ ① ﬁle", "api 1 file"},
		{"korean with particles", "데이터베이스를 쓴다", "데이터베이스를 데이 이터 터베 베이 이스 스를 쓴다"},
		{"korean word of two", "결정", "결정"},
		{"chinese", "我们决定使用", "我们 们决 决定 定使 使用"},
		{"chinese single", "我 a", "我"},
		{"japanese", "データを保存", "デー ータ タを を保 保存"},
		{"thai", "ภาษาไทย", "ภาษ าษา ษาไ าไท ไทย"},
		{"mixed script", "使用Redis缓存", "使用 redi 缓存"},
		{"combining marks stay", "हिन्दी", "हिन्दी"},
		{"apostrophe", "don't", "don't don"},
		{"emoji", "Ship it 🎉🎉", "ship 🎉 🎉"},
		{"emoji in other colours", "❤️ 👍🏽 👩‍🚀", "❤ 👍 👩 🚀"},
		{"emoji inside a word", "x🎉y z", "x 🎉 y z"},
		{"marks alone", "\ufe0f \u0301", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, Terms(tt.text))
		})
	}
}

// A Korean question finds the noun whatever particle either side attached.
func TestTermsSharePairs(t *testing.T) {
	t.Parallel()
	stored, asked := strings.Fields(Terms("배포는 금요일에 하지 않는다")), strings.Fields(Terms("배포를 언제 하나"))
	require.Contains(t, stored, "배포")
	require.Contains(t, asked, "배포")
}

func TestTermsAreCleanTokens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		terms := Terms(text)
		if strings.Join(strings.Fields(terms), " ") != terms {
			t.Fatalf("terms of %q hold other white space: %q", text, terms)
		}
		for _, r := range terms {
			if unicode.IsControl(r) || strings.ContainsRune(`"\{}()[]$`, r) {
				t.Fatalf("terms of %q hold %q", text, r)
			}
		}
	})
}

func TestStem(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"running": "run", "making": "make", "made": "made", "cities": "citi", "city": "citi", "used": "use",
		"uses": "use", "status": "status", "string": "string", "été": "été", "v2s": "v2s", "": "",
	} {
		require.Equal(t, want, Stem(word), word)
	}
}
