package pair_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/graduate/pair"
)

// The examples: the seen ones, which the rule was developed with, and the others, which were new when it was measured.
const (
	seen     = "pairs.tsv"
	heldOut  = "heldout.tsv"
	sessions = "sessions.tsv"
	fresh    = "fresh.tsv"
	progress = "progress.tsv"
)

// example is a line of such a file.
type example struct{ language, label, a, b string }

func examples(tb testing.TB, file string) []example {
	tb.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	require.NoError(tb, err)
	var all []example
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(tb, fields, 4, line)
		all = append(all, example{fields[0], fields[1], fields[2], fields[3]})
	}
	return all
}

// score counts the found relations of one kind.
type score struct{ right, wrong, missed int }

func (s score) precision() float64 { return float64(s.right) / float64(max(1, s.right+s.wrong)) }
func (s score) recall() float64    { return float64(s.right) / float64(max(1, s.right+s.missed)) }

func measure(tb testing.TB, kind pair.Kind, all []example) score {
	tb.Helper()
	var s score
	for _, e := range all {
		found := pair.Compare(e.a, e.b)
		switch is, want := found.Kind == kind, e.label == string(kind); {
		case is && want:
			s.right++
		case is:
			s.wrong++
			tb.Logf("%s: wrong %s (%s: %s): %q, %q", e.language, kind, found.Type, found.Reason, e.a, e.b)
		case want:
			s.missed++
			tb.Logf("%s: missed %s: %q, %q", e.language, kind, e.a, e.b)
		}
	}
	return s
}

// least has the measured precision and recall of conflicts, and the precision of restatements.
var least = map[string][3]float64{seen: {1, 0.98, 1}, heldOut: {0.95, 0.93, 1}, sessions: {0.95, 0.92, 0}, fresh: {0.95, 0.8, 0}, progress: {1, 0.95, 0}}

func TestExamples(t *testing.T) {
	t.Parallel()
	for file, least := range least {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			all := examples(t, file)
			conflicts, restatements := measure(t, pair.Conflict, all), measure(t, pair.Restatement, all)
			t.Logf("%d pairs: conflicts %+v: precision %.3f, recall %.3f; restatements %+v: precision %.3f, recall %.3f", len(all),
				conflicts, conflicts.precision(), conflicts.recall(), restatements, restatements.precision(), restatements.recall())
			require.GreaterOrEqual(t, conflicts.precision(), least[0])
			require.GreaterOrEqual(t, conflicts.recall(), least[1])
			require.GreaterOrEqual(t, restatements.precision(), least[2])
		})
	}
}

func TestRelations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ older, newer, kind, reason string }{
		{"The ladder is 3 m long.", "The ladder is 5 m long.", "number", `"3" before, "5" now`},
		{"The ladder is 5 m long.", "The ladder is 3 m long.", "number", `"5" before, "3" now`},
		{"Parents' evening is on Tuesday.", "Parents' evening is on Friday.", "date", `"on Tuesday" before, "on Friday" now`},
		{"Ines owns the kiosk.", "The kiosk is owned by Tariq.", "value", `"Ines" before, "Tariq" now`},
		{"The lamp is on.", "The lamp is off.", "status", "one gives the opposite status of the other"},
		{"We sell honey.", "We don't sell honey.", "negation", "the newer one denies the older one's claim"},
		{"We don't sell honey.", "We sell honey.", "negation", "the newer one makes a claim that the older one denies"},
		{"Honey beats sugar rather than syrup.", "Syrup beats sugar rather than honey.", "order", `"Honey" and "syrup" have changed places`},
		{"Ines did not sign the lease.", "Ines signed the lease.", "negation", "the newer one makes a claim that the older one denies"},
	} {
		found := pair.Compare(c.older, c.newer)
		require.Equal(t, pair.Relation{Kind: pair.Conflict, Type: c.kind, Reason: c.reason}, found, "%q, %q", c.older, c.newer)
	}
	for _, c := range [][2]string{
		{"The lamp is on.", "The lamp isn't off."}, {"The fee is 1,000 euros.", "The fee is 1,000 euros now."},
		{"Ines reviews the text.", "The text is reviewed by Ines."}, {"Ines signed the lease.", "The lease was signed by Ines."},
		{"He uses caches.", "He does use a cache."},
	} {
		found := pair.Compare(c[0], c[1])
		require.Equal(t, pair.Restatement, found.Kind, c)
		require.False(t, found.Strict, c)
	}
	for _, c := range [][2]string{
		{"", ""}, {"\x00", " \n"}, {"The fee is 1,000 euros.", "The fee is 1000 euros."}, {"The fee is 5.", "The fee is 5.0."},
	} {
		require.Equal(t, pair.Relation{}, pair.Compare(c[0], c[1]), c)
	}
}

func TestNegated(t *testing.T) {
	t.Parallel()
	for _, denial := range []string{
		"We don't sell honey.", "Wir verkaufen keinen Honig.", "On ne vend pas de miel.", "No vendemos miel.", "Мы не продаём мёд.",
		"우리는 꿀을 팔지 않습니다.", "蜂蜜は売りません。", "我们不卖蜂蜜。",
	} {
		require.True(t, pair.Negated(denial), denial)
	}
	for _, plain := range []string{"We sell honey.", "She said \"never\".", "我们卖不锈钢。", "必ず売ります。", "Wir verkaufen Honig.", ""} {
		require.False(t, pair.Negated(plain), plain)
	}
}

// A model is not asked about two stages of one thing. It is asked about all other differences.
func TestAdvances(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"The migration is 30 % done.", "The migration is 60 % done."}, {"3 of 8 tasks are done.", "5 of 8 tasks are done."},
		{"The PR has 3 open threads.", "The PR has 1 open thread."}, {"The suite has 412 tests.", "The suite has 430 tests."},
		{"Die Testabdeckung beträgt 81 %.", "Die Testabdeckung beträgt 84 %."}, {"迁移完成了30%。", "迁移完成了60%。"},
	} {
		require.True(t, pair.Parse(c[0]).Advances(pair.Parse(c[1])), c)
	}
	for _, c := range [][2]string{
		{"Completed orders are archived.", "Completed orders are deleted."}, {"Phase 4 is led by Ines.", "Phase 4 is owned by Tariq."},
		{"The left sidebar is 200 px wide.", "The left sidebar is 300 px wide."}, {"Office hours are 9 to 17.", "Office hours are 10 to 18."},
		{"3 of 8 tasks are done.", "3 of 8 tasks are not done."}, {"3 of 8 tasks are done.", "3 of 8 tasks are done."},
		{"", "3 of 8 tasks are done."}, {"The migration is 30 % done.", "The import is 60 % done."},
	} {
		require.False(t, pair.Parse(c[0]).Advances(pair.Parse(c[1])), c)
	}
}

func TestZeroStatement(t *testing.T) {
	t.Parallel()
	var zero pair.Statement
	require.Empty(t, zero.Claim())
	require.Empty(t, zero.Keys())
	require.Equal(t, pair.Relation{}, zero.Compare(pair.Parse("The fee is 5.")))
	require.Equal(t, pair.Relation{}, pair.Parse("The fee is 5.").Compare(zero))
}
