package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSameTitle(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Fix login bug", " fix login bug!", "FIX the LOGIN bug…", "Fix login-bug", "fix_login_bug", "[Fix] login (bug)", "Fix **login** 'bug'", "(fix login bug)", "Fix: login, bug"},
		{"Remove the “legacy” flag", "Remove the \"legacy\" flag", "remove legacy flag", "Remove the ‹legacy› flag", "Remove the 〝legacy〟 flag", "Remove the «legacy» flag", "Remove the 'legacy' flag"},
		{"升级到 Go 1.26", "升级到Go 1.26", "升级到 go 1.26。"}, {"更新部署文档", "更新 部署文档。", "「更新部署文档」"},
		{"サーバー A を更新", "サーバーAを更新", "ｻｰﾊﾞｰＡを更新"},
		{"배포 문서 작성", "배포  문서 작성."}, {"إعادة تشغيل الخادم", "إعادة تشغيل الخادم؟"}, {"सर्वर बदलें", "सर्वर बदलें।"}, {"የሰነድ ዝግጅት", "የሰነድ ዝግጅት።"},
		{"İndirme sayfasını güncelle", "i̇ndirme sayfasını güncelle"}, {"Straße sperren", "STRASSE SPERREN"},
		{"Ship v1.2", "ship V1.2."}, {"Call foo()", "call foo()!"}, {"Sync us-east", "sync us east"},
		{"Close phase-1", "close phase 1"}, {"Sort a-z", "sort a z"}, {"Set x = - 1", "set x = -1"}, {"Fix login — bug", "fix login bug"},
	} {
		for _, s := range same {
			require.True(t, SameTitle(same[0], s), "%q, %q", same[0], s)
			require.Equal(t, TitleTerms(same[0]), TitleTerms(s), "%q is found for %q", s, same[0])
		}
	}
	for _, apart := range [][]string{
		{"Move data from oracle to sqlite", "Move data from sqlite to oracle"}, {"Move shard 6 to cluster 1", "Move shard 1 to cluster 6"},
		{"Copy src/a b", "Copy src a/b", "Copy src a b"}, {"Sync a-b c", "Sync a b-c"}, {"Rename x.y z", "Rename x y.z"},
		{"Ask Kim", "Ask Lim"}, {"Review plan A", "Review plan", "Review a plan"}, {"Move a to b", "Move to b", "Move b to a"},
		{"Fix bug #12", "Fix bug #21", "Fix bug 12"}, {"Ship 1.5", "Ship 15", "Ship 1-5", "Ship 1 5", "Ship 1,5"}, {"Set -1", "Set 1"},
		{"Compute x-1", "Compute x 1", "Compute x1"}, {"Compute 1-x", "Compute 1 x"}, {"Compute x−1", "Compute x 1"}, {"Compute 2 n-10.5", "Compute 2 n 10.5"},
		{"Set x = - 1", "Set x = 1"}, {"Set x = -1", "Set x = 1"}, {"Wait 5 - 3 s", "Wait 5 3 s"},
		{"第1 2步", "第12步"}, {"把甲迁到乙", "把乙迁到甲"}, {"Test __init__", "Test init"}, {"Pass --force", "Pass force"}, {"Match *.go", "Match .go"},
		{"Support C", "Support C++", "Support C#"}, {"x > y", "y > x", "x y"}, {"Fix 🚀", "Fix 🔥", "Fix"}, {"Run f(x) y", "Run f x(y)"},
		{"Its name", "It's name"}, {"Don't merge", "Merge"}, {"résumé", "resume"}, {"कि", "की"}, {"!", "?"}, {"the", "the the"}, {"Grow 5%", "Grow 5"},
	} {
		for i, a := range apart {
			for _, b := range apart[i+1:] {
				require.False(t, SameTitle(a, b), "%q, %q", a, b)
			}
		}
	}
}

// TestSameTitleIsLooserThanKeys: titles of one key are the same, sameness goes both ways, and words in
// another order are another title.
func TestSameTitleIsLooserThanKeys(t *testing.T) {
	t.Parallel()
	title := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("aB1 .,-_!?'\"()[]*#C+²ﬁ\u200d修ー甲THEthe")), 0, 20, -1))
	rapid.Check(t, func(t *rapid.T) {
		a, b := title.Draw(t, "a"), title.Draw(t, "b")
		require.True(t, SameTitle(a, a))
		require.True(t, SameTitle(a, Title(a)))
		require.Equal(t, SameTitle(a, b), SameTitle(b, a))
		if SameTitle(a, b) {
			require.Equal(t, TitleTerms(a), TitleTerms(b))
		}
		x, y := wordsOf(a).words, wordsOf(b).words
		both := append(append([]string{}, x...), y...)
		if turned := append(append([]string{}, y...), x...); strings.Join(both, " ") != strings.Join(turned, " ") {
			spaced := strings.ContainsFunc(a+b, Unspaced)
			require.False(t, !spaced && SameTitle(strings.Join(both, " "), strings.Join(turned, " ")), "%q, %q", both, turned)
		}
	})
}
