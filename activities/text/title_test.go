package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestTitleDoesNotSplit(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"fix login bug": {
			"Fix login bug", " fix login bug!", "FIX LOGIN BUG", "Fix  login\tbug\n", "Fix login bug.", "Fix login bug !",
			"\u3000Ｆｉｘ\u3000ｌｏｇｉｎ\u3000ｂｕｇ", "Fix\u00a0login\u202fbug", "“Fix login bug”", "- [ ] Fix login bug",
			"**Fix login bug**", "Fix `login` bug", "Fix log\u00adin b\u200bug", "(Fix login bug)", "• Fix login bug…", "fix login bug?!",
			"Fix: login bug", "Fix login — bug", "# Fix login bug", "\ufeffFix login bug", "Ｆix login bug。",
		},
		"café öffnen":     {"Café öffnen", "Cafe\u0301 o\u0308ffnen", "CAFÉ ÖFFNEN."},
		"strasse sperren": {"Straße sperren", "STRASSE sperren"},
		"σοφος":           {"ΣΟΦΟΣ", "σοφοσ", "σοφος"},
		"修复登录错误":          {"修复登录错误", "修复登录错误。", "「修复登录错误」"},
		"don't panic":     {"Don’t panic", "Don't panic!"},
		"h2o":             {"H₂O", "H2O"},
		"set x = -1":      {"Set x = -1", "Set x = - 1", "set x = − 1."},
		"fix login 2fa":   {"Fix login - 2FA", "Fix login — 2FA"},
		"1 bug":           {"- 1 bug", "1 bug"},
		"use kafka":       {"Use Kafka", " use\u00a0kafka. ", "USE  KAFKA!", "ｕｓｅ　ｋａｆｋａ。", "use kafka…", "use kafka !?", "Use Ka\u200bfka", "“Use Kafka”"},
		"strasse 5":       {"Straße 5", "STRASSE 5", "strasse 5:"},
		"카프카를 쓰자":         {"카프카를 쓰자", "카프카를 쓰자。", norm.NFD.String("카프카를 쓰자")},
		"使用 kafka":        {"使用 Kafka", "使用　Kafka！", "使用 kafka；"},
		"résumé":          {"résumé", "re\u0301sume\u0301", "RÉSUMÉ,"},
		"ꭳꭰ":              {"ꭳꭰ", "ᎣᎠ", "Ꭳꭰ"},
		"葛飾":              {"葛飾", "葛\U000e0100飾"},
		"a 1":             {"a\u061c 1", "a\u034f 1", "a\u206a 1"},
		"♥ team":          {"♥\ufe0f team", "♥ team"},
	} {
		for _, s := range spellings {
			require.Equal(t, Title(want), Title(s), "%q", s)
		}
	}
}

func TestTitleDoesNotMerge(t *testing.T) {
	t.Parallel()
	for _, apart := range [][]string{
		{"C++", "C#", "C", "C+", "C*"},
		{"1.5", "15", "1,5", "1 5", "1/5", "1-5"},
		{"Upgrade to 1.5", "Upgrade to 15", "Upgrade to 1.6"},
		{"foo_bar", "foobar", "foo bar"},
		{"कि", "की", "क", "कु"},
		{"ที่", "ท", "ที", "ท่"},
		{"🚀", "🔥", "🎉"}, {"👨‍👩‍👧", "👨👩👧", "👨‍👩‍👦"}, {"👍🏽", "👍🏿", "👍"},
		{"Fix login bug 🚀", "Fix login bug"},
		{".NET", "NET"}, {"__init__", "init"}, {"!", "?", "..."}, {"x²", "x2"}, {"½ price", "1/2 price"},
		{"10:30", "1030"}, {"-1", "1"}, {"Set x = - 1", "Set x = 1", "Set x = - y"}, {"Set x = − 1.5", "Set x = 1.5"}, {"5 - 3", "5 3"}, {"#12", "12"}, {"$5", "5"}, {"5%", "5"}, {"a&b", "ab"}, {"foo()", "foo"}, {"*.go", ".go"},
		{"「設定」を変更", "設定を変更"}, {"Learn C++", "Learn C#", "Learn C"}, {"Version 1.5", "Version 15", "Version 1,5"}, {"ไม่", "ไม", "ไม้"},
		{"ship 🚀", "ship 🛑", "ship 👩‍👩‍👧", "ship 👩"}, {"+1", "1"}, {"a/b", "ab", "a b"}, {"!!!", "???"},
		{"Réserver", "Reserver"}, {"ıt", "it"}, {"می\u200cخواهم", "میخواهم"},
	} {
		seen := map[string]string{}
		for _, s := range apart {
			n := Title(s)
			require.NotEmpty(t, n, "%q", s)
			require.NotContains(t, seen, n, "%q and %q", s, seen[n])
			seen[n] = s
		}
	}
}

func TestTitleIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("aB1 .,-!?'\"()[]*_#C+²½ﬁ\u200d\u200b\u00a0Σσς修👨")), 0, 30, -1)).Draw(t, "title")
		once := Title(s)
		require.Equal(t, once, Title(once))
		require.Equal(t, strings.Join(strings.Fields(once), " "), once)
	})
}

func FuzzTitle(f *testing.F) {
	for _, s := range []string{"- [ ] **Fix** login!", "((a b))", "C++", "\u200d👨", "…", "ﬁ ²"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Title(s)
		require.Equal(t, once, Title(once))
	})
}
