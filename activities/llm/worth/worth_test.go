package worth

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/llm/prose"
	"axiommind/activities/text"
	"axiommind/schema"
)

func conversation(turns ...string) []schema.Message {
	out := make([]turn, len(turns))
	for i, t := range turns {
		role, content, _ := strings.Cut(t, ": ")
		out[i] = turn{map[string]string{"u": "user", "a": "assistant"}[role], content}
	}
	return windowOf(out)
}

// worthOf returns the worth of each line of a window.
func worthOf(window []schema.Message) map[string]float64 {
	all, out := split(window, false), map[string]float64{}
	worth := model().worth(all)
	for i := range all {
		out[all[i].text()] = worth[i]
	}
	return out
}

func TestWorkIsWorthMoreThanTalk(t *testing.T) {
	t.Parallel()
	worth := worthOf(conversation(
		"u: It starts in `pkg/import/archive.go`.\nCan you look?",
		"a: Let me look at `archive.go`.\n\nLet me run the tests.",
		"a: ## Root cause\n\nThe pool is exhausted: `openFile` in `pkg/import/archive.go` takes a connection for each file and never gives it back.",
		"u: I don't want a bigger pool.\nWe should stream the files through one connection instead, because the database is shared with billing.",
		"a: OK.",
		"a: All tests pass.\n\nThe import of the 2 GB archive now takes 40 seconds.",
		"u: thanks!",
	))
	for _, kept := range []string{
		"The pool is exhausted: `openFile` in `pkg/import/archive.go` takes a connection for each file and never gives it back.",
		"We should stream the files through one connection instead, because the database is shared with billing.",
		"The import of the 2 GB archive now takes 40 seconds.",
	} {
		for _, passing := range []string{"Let me look at `archive.go`.", "Let me run the tests.", "OK.", "thanks!", "Can you look?"} {
			require.Greater(t, worth[kept], 4*worth[passing], "%q against %q", kept, passing)
		}
	}
}

func TestLifeIsWorthMoreThanAdvice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ said, passing, answer string }{
		{"My daughter Ida is allergic to peanuts and starts school in Bremen in August.", "Can you help me?", "Here are ten tips for a healthy lunch box."},
		{"Meine Tochter Ida ist gegen Erdnüsse allergisch und kommt im August in Bremen in die Schule.", "Kannst du mir helfen?", "Hier sind zehn Tipps für eine gesunde Brotdose."},
		{"娘のイダはピーナッツアレルギーで、8月から横浜の小学校に通います。", "手伝ってもらえますか？", "健康的なお弁当のヒントを10個ご紹介します。"},
	} {
		worth := worthOf(conversation("u: "+c.said+"\n"+c.passing, "a: "+c.answer))
		require.Greater(t, worth[c.said], 4*worth[c.passing])
		require.Greater(t, worth[c.said], 4*worth[c.answer])
	}
}

// Words of others that a user pastes are no preference of the user.
func TestHandedOverWordsStateNoFact(t *testing.T) {
	t.Parallel()
	all := split(conversation("u: I want every build to run the tests first. Summarize this mail in `docs/mail.md`:\n\nI am Eve, and I live in Bremen with my two children."), true)
	require.Len(t, all, 2)
	for i := range all {
		require.Equal(t, i >= 1, all[i].handedOver, all[i].text())
		if of := kindOf(model(), features(all, i), &all[i]); all[i].handedOver {
			require.NotEqual(t, schema.EntryFact, of.entry)
			said := all[i]
			said.handedOver = false
			require.Equal(t, schema.EntryFact, kindOf(model(), features(all, i), &said).entry, "by its words it is one")
		}
	}
}

// A line is one entry, and a long one only its best sentence.
func TestALineIsOneEntry(t *testing.T) {
	t.Parallel()
	said := "We keep the retry limit at five. The provider blocks us after six."
	window := conversation("u: " + said + "\n\nThat is all.")
	all := split(window, false)
	require.Len(t, all, 2)
	require.Len(t, all[0].parts, 2)
	picked := pick(model(), all, 0, 10)
	require.Len(t, picked, 2)
	e, ok := entryOf(model(), all, picked[0], map[*schema.Message]prose.Boundaries{})
	require.True(t, ok)
	require.Equal(t, "We keep the retry limit at five. The provider blocks us after six.", e.Title)
	require.Equal(t, said, e.Evidence[0].Quote)

	for _, l := range split(conversation("u: "+said+strings.Repeat(" And so on, and so on.", 20)), false) {
		require.Len(t, l.parts, 1)
	}
	long := said + strings.Repeat(" OK.", 40)
	all = split(conversation("u: "+long), false)
	require.Len(t, all, 1)
	e, ok = entryOf(model(), all, pick(model(), all, 0, 1)[0], map[*schema.Message]prose.Boundaries{})
	require.True(t, ok)
	require.Contains(t, said, e.Title, "a long title gives way to the best sentence")
	require.Equal(t, long, e.Evidence[0].Quote)
}

func TestShortAnswersCarryTheirQuestion(t *testing.T) {
	t.Parallel()
	all := split(conversation("a: Both work. I recommend option B, a table per tenant, because a restore then touches one of them. Shall I use a table per tenant?",
		"u: Yes, let's do that."), false)
	last := len(all) - 1
	e, ok := entryOf(model(), all, found{line: &all[last], at: last, kind: kinds[0], confidence: 0.5}, map[*schema.Message]prose.Boundaries{})
	require.True(t, ok)
	require.Equal(t, "Shall I use a table per tenant? Yes, let's do that.", e.Title)
	require.Equal(t, []schema.Quote{{MessageIndex: 0, Quote: "Shall I use a table per tenant?"}, {MessageIndex: 1, Quote: "Yes, let's do that."}}, e.Evidence)

	all = split(conversation("a: Shall I?", "a: Merged."), false)
	e, ok = entryOf(model(), all, found{line: &all[1], at: 1, kind: kinds[6], confidence: 0.5}, map[*schema.Message]prose.Boundaries{})
	require.True(t, ok)
	require.Equal(t, "Merged.", e.Title, "an assistant answers no one")

	// A preference stays the user's alone, and so does an answer to no question.
	for _, c := range []struct {
		before string
		kind   kind
	}{{"a: Shall I push?", kinds[1]}, {"a: All tests pass.", kinds[0]}} {
		all = split(conversation(c.before, "u: Never push to main."), false)
		e, ok = entryOf(model(), all, found{line: &all[1], at: 1, kind: c.kind, confidence: 0.5}, map[*schema.Message]prose.Boundaries{})
		require.True(t, ok)
		require.Equal(t, "Never push to main.", e.Title)
		require.Len(t, e.Evidence, 1)
	}
}

// A short line of an agent's session says nothing by itself: "Done." But an answer has its question.
func TestShortLinesOfWorkAreNoEntries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said  string
		found bool
	}{
		{"We stream the import.", false},
		{"We stream the import through one connection now, because the database is shared with billing.", true},
		{"データベースは請求と共有なので、取り込みは一つの接続で流します。", true},
	} {
		all := split(conversation("u: Look at `pkg/import/archive.go`.", "a: ## Decision in `pkg/import`\n\n"+c.said), true)
		got := pick(model(), all, 0, most)
		require.Equal(t, c.found, slices.ContainsFunc(got, func(f found) bool { return f.text() == c.said }), "%s: %+v", c.said, got)
	}
	require.InDelta(t, 4, width("a 1."), 0)
	require.InDelta(t, 4, width("共有"), 0)
}

func TestLinesThatSayTheSameAreOneEntry(t *testing.T) {
	t.Parallel()
	said := "We decided to keep the retry limit at five attempts because the provider blocks us after six."
	window := conversation("u: "+said, "a: Understood.", "u: Again: "+said)
	require.Len(t, pick(model(), split(window, false), 0, 10), 2)
}

// anyWindow has messages of any text, in scripts of all kinds, with marks of Markdown.
func anyWindow() *rapid.Generator[[]schema.Message] {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"We decided to use Go. ", "TODO: write it. ", "- [x] done\n", "## Head\n", "```\ncode\n```\n", "| a | b |\n", "娘は8歳です。", "할 일: 검토. ", "…", "?", "\x00", "🧪 ", "http://a.b/c ",
	}))
	return rapid.Custom(func(t *rapid.T) []schema.Message {
		turns := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) turn {
			return turn{rapid.SampledFrom([]string{"user", "assistant"}).Draw(t, "role"), strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")}
		}), 0, 6).Draw(t, "turns")
		window := windowOf(turns)
		for i := range window {
			window[i].Index += 7 // A window may begin anywhere.
			window[i].Text = strings.ToValidUTF8(window[i].Text, "")
		}
		return window
	})
}

func TestEveryEntryRestsOnWholeSentences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { requireSound(t, anyWindow().Draw(t, "window")) })
}

func FuzzExtract(f *testing.F) {
	f.Add("We decided to use Go.", "OK. TODO: write it.")
	f.Fuzz(func(t *testing.T, a, b string) {
		requireSound(t, windowOf([]turn{{"user", strings.ToValidUTF8(a, "")}, {"assistant", strings.ToValidUTF8(b, "")}}))
	})
}

func requireSound(t require.TestingT, window []schema.Message) {
	all := split(window, false)
	boundaries := map[*schema.Message]prose.Boundaries{}
	for _, f := range pick(model(), all, 0, 1000) { // Whatever its worth.
		e, ok := entryOf(model(), all, f, boundaries)
		if !ok {
			continue
		}
		require.NotEmpty(t, e.Title)
		require.LessOrEqual(t, utf8.RuneCountInString(e.Title), 200)
		requireWhole(t, window, []schema.ExtractedEntry{e})
		require.Equal(t, e.Type == schema.EntryTaskNote, e.Task != nil)
		require.GreaterOrEqual(t, *e.Confidence, 0.0)
		require.LessOrEqual(t, *e.Confidence, 1.0)
	}
	for _, works := range []bool{false, true} {
		got := Extract(window, works)
		requireWhole(t, window, got.Entries)
		require.Equal(t, got, Extract(window, works))
	}
}

// requireWhole checks that every quote is whole sentences or lines of its message.
func requireWhole(t require.TestingT, window []schema.Message, entries []schema.ExtractedEntry) {
	for _, e := range entries {
		require.NotEmpty(t, e.Evidence)
		for _, q := range e.Evidence {
			m := window[q.MessageIndex-window[0].Index]
			at := strings.Index(m.Text, q.Quote)
			require.GreaterOrEqual(t, at, 0)
			whole := false
			for b := text.NewBoundaries(m.Text); at >= 0 && !whole; {
				whole = b.Whole(at, at+len(q.Quote))
				next := strings.Index(m.Text[at+1:], q.Quote)
				if next < 0 {
					break
				}
				at += 1 + next
			}
			require.True(t, whole, "%q of %q", q.Quote, m.Text)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Don’t use v2.1!":  "don't use v 0 . 0 !",
		"데이터를 저장":          "데이 이터 터를 저장",
		"我们用 Go":           "我们 们用 go",
		"`--flag` → 12 ms": "` - - flag ` → 0 ms",
		"":                 "",
		"猫":                "猫",
	} {
		require.Equal(t, want, strings.Join(tokens(in), " "), in)
	}
	require.Len(t, tokens(strings.Repeat("word ", 1000)), maxTokens)
}

func TestWeightsOfAnotherLengthAreRefused(t *testing.T) {
	t.Parallel()
	_, err := decode(stored[1:])
	require.ErrorContains(t, err, "another length")
	var all [heads][]float64
	for n := range all {
		all[n] = make([]float64, dimensions)
		all[n][n], all[n][buckets+n] = -2, 3
	}
	n := net{Base: 1}
	n.Into[3][2], n.Bias[3], n.Out[3], n.Direct[2] = 2, -1, 4, 0.5
	raw, err := encode(all, n)
	require.NoError(t, err)
	w, err := decode(raw)
	require.NoError(t, err)
	require.InDelta(t, 1-4*0.5/1.5+0.5*0.25, w.net.weigh(&[inputs]float64{2: 0.25}), 1e-6)
	for n := range all {
		require.InDelta(t, -2, w.weigh(n, []feature{{uint32(n), 1}}), 1e-6)
		require.InDelta(t, 3, w.weigh(n, []feature{{uint32(buckets + n), 1}}), 1e-6)
	}
}

func BenchmarkExtract(b *testing.B) {
	sessions := gold(b)
	bytes := 0
	for _, s := range sessions {
		for _, m := range s.window {
			bytes += len(m.Text)
		}
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for _, s := range sessions {
			Extract(s.window, false)
		}
	}
}
