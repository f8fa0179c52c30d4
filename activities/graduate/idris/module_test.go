package idris

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/evidence"
	"axiommind/activities/graduate/obligation"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

var update = flag.Bool("update", false, "write the golden files")

// said is a message of the user.
func said(index int, text string) schema.Message {
	return schema.Message{Index: index, Role: schema.RoleUser, Kind: schema.KindText, Text: text}
}

// stated returns an entry that whole sentences of a message state.
func stated(t require.TestingT, id, title, message string, quotes ...string) (schema.Entry, *obligation.Session) {
	aligner := evidence.NewAligner([]schema.Message{said(4, message)}, func(int) string { return "event" })
	var asked []schema.Quote
	for _, q := range quotes {
		asked = append(asked, schema.Quote{MessageIndex: 4, Quote: q})
	}
	pieces, aligned := aligner.AlignEntry(asked)
	require.True(t, aligned)
	e := schema.Entry{
		ID: id, Type: schema.EntryFact, Title: title, Evidence: pieces, EvidenceRule: evidence.Rule,
		EvidenceAligned: aligned, EvidenceProven: evidence.Proven(pieces),
	}
	return e, obligation.NewSession(map[int]schema.Message{4: said(4, message)})
}

func sample(t require.TestingT) obligation.Facts {
	e, s := stated(t, "entry-1", "Backups stay 30 days in ColdStore", "Backups stay 30 days in ColdStore.\nThe rest goes away at night.",
		"Backups stay 30 days in ColdStore.", "the rest goes away at night")
	return s.Facts(e)
}

// golden compares a text with a golden file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := "testdata/" + file
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestGoldenModule(t *testing.T) {
	t.Parallel()
	w := &writer{}
	w.header()
	golden(t, "header.idr", w.String())
	e, s := stated(t, "e-2", "Größe \"5\" }-\\{ \u202eبت", "Größe \"5\" }-\\{ \u202eبت!", "Größe \"5\" }-\\{ \u202eبت!")
	m := NewModule([]obligation.Facts{sample(t), s.Facts(e)})
	golden(t, "small.idr", m.Text)
	require.Equal(t, m, NewModule(m.entries), "the module is a function of its entries")
	refused, err := checkFragment(m.Text)
	require.NoError(t, err)
	require.Empty(t, refused)
}

// goFailures returns the failures of the Go verifier as checkFragment writes them.
func goFailures(f obligation.Facts) []string {
	var out []string
	for _, failure := range f.Check() {
		out = append(out, fmt.Sprint(failure.Piece, " ", failure.Obligation))
	}
	slices.Sort(out)
	return out
}

// agree compares the fragment's checker with the Go verifier, and returns the refused obligations of each entry.
func agree(t require.TestingT, facts []obligation.Facts) [][]string {
	refused, err := checkFragment(NewModule(facts).Text)
	require.NoError(t, err)
	out := make([][]string, len(facts))
	for i, f := range facts {
		slices.Sort(refused[i])
		out[i] = goFailures(f)
		require.Equal(t, out[i], refused[i], "entry %d", i)
	}
	return out
}

// violations returns copies of the sample in which one relation of an obligation is false.
func violations(t require.TestingT) map[string]obligation.Facts {
	out := map[string]obligation.Facts{}
	for _, o := range obligation.List() {
		for i, r := range o.Holds {
			f := sample(t)
			record := f.Entry
			if o.PerPiece {
				record = f.Pieces[1]
			}
			violate(record, r)
			out[fmt.Sprint(o.Name, " ", i)] = f
		}
	}
	return out
}

// violate makes a relation false for a record.
func violate(record obligation.Record, r obligation.Relation) {
	field, step := r.Left.Field, 1
	if field.Name == "" {
		field, step = r.Right.Field, -1
	}
	l := record[field]
	switch r.Op {
	case obligation.Filled:
		l.Text = ""
	case obligation.Same:
		l.Text += "x"
	case obligation.Equal:
		l.Number++
	case obligation.Below, obligation.AtMost:
		l.Number += step << 40
	case obligation.Among:
		l.Text, l.Texts = "unknown", append(slices.Clone(l.Texts), "0451")
	}
	record[field] = l
}

// Both verifiers refuse a module with one false obligation for that obligation.
func TestEachObligationIsRefused(t *testing.T) {
	t.Parallel()
	require.Empty(t, sample(t).Check())
	for name, f := range violations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := agree(t, []obligation.Facts{sample(t), f, sample(t)})
			require.Empty(t, refused[0])
			require.Empty(t, refused[2])
			obligation, _, _ := strings.Cut(name, " ")
			require.True(t, slices.ContainsFunc(refused[1], func(s string) bool { return strings.HasSuffix(s, " "+obligation) }), "%v", refused[1])
		})
	}
}

// anyText is any text, including delimiters of Idris.
var anyText = rapid.Custom(func(t *rapid.T) string {
	pieces := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom(hostile), rapid.StringN(0, 6, -1), rapid.SampledFrom([]string{" ", ". ", "\n", "5", "v1.5", "C++", "no"}),
	), 0, 6).Draw(t, "pieces")
	return strings.Join(pieces, "")
})

var hostile = []string{
	`"`, `\`, `"""`, `-}`, `{-`, `--`, "%runElab", `\"`, `\{`, `}`, "\n", "\r\n", "\x00", "\u202e", "\u2066", "\ufeff", "\x1b[31m",
	`\SOH`, `\SO`, "H", `\&`, `\x41`, "\u00e9" + "f", "\U0010ffff" + "0", "\ufffd", "#\"", "?hole", "believe_me", "Oh", "e0_verified = ",
	"Error: ", "\nSession:1:1--1:2\n", "\xff", "\xed\xa0\x80",
}

// anyEntry is an entry of a message, usually valid, sometimes damaged.
var anyEntry = rapid.Custom(func(t *rapid.T) obligation.Facts {
	sentences := rapid.SliceOfN(rapid.SampledFrom([]string{
		"Anna keeps port 8080 open.", "Das Limit beträgt 1.5 GB.", "Nous utilisons C++ et C#.", "我们在第3天发布。", "يبقى ٣٠ يوما.",
		"parse_url fails in cmd/main.go:42.", "It **never** runs twice.", "서버는 3.2를 씁니다.",
	}), 1, 4).Draw(t, "sentences")
	message := strings.Join(sentences, "\n") + rapid.OneOf(rapid.Just(""), anyText).Draw(t, "more")
	quotes := sentences[:1]
	title := sentences[0]
	if rapid.IntRange(0, 2).Draw(t, "other") == 0 {
		quotes = rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(sentences), anyText), 0, 3).Draw(t, "quotes")
		title = rapid.OneOf(rapid.SampledFrom(sentences), anyText).Draw(t, "title")
	}
	aligner := evidence.NewAligner([]schema.Message{said(0, strings.ToValidUTF8(message, "?"))}, func(int) string { return "event" })
	var asked []schema.Quote
	for _, q := range quotes {
		asked = append(asked, schema.Quote{Quote: q})
	}
	pieces, _ := aligner.AlignEntry(asked)
	e := schema.Entry{ID: "id", Type: schema.EntryFact, Title: title, Evidence: pieces, EvidenceRule: evidence.Rule}
	if rapid.IntRange(0, 2).Draw(t, "damaged") == 0 {
		damage(t, &e)
	}
	return obligation.NewSession(map[int]schema.Message{0: said(0, message)}).Facts(e)
})

// damage corrupts a field of an entry.
func damage(t *rapid.T, e *schema.Entry) {
	number := rapid.IntRange(-5, 100)
	e.Type = rapid.SampledFrom([]schema.EntryType{schema.EntryFact, schema.EntryTaskNote, "", "fiction"}).Draw(t, "type")
	if rapid.Bool().Draw(t, "confident") {
		c := rapid.Float64Range(-0.5, 1.5).Draw(t, "confidence")
		e.Confidence = &c
	}
	e.ID = anyText.Draw(t, "id")
	for i := range e.Evidence {
		p := &e.Evidence[i]
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			p.Span.ByteEnd = number.Draw(t, "end")
		case 1:
			p.Span.RuneStart = number.Draw(t, "rune")
		case 2:
			p.Text = anyText.Draw(t, "text")
		case 3:
			p.Quote = anyText.Draw(t, "quote")
		case 4:
			p.EventID, p.SourceHash = "", anyText.Draw(t, "hash")
		case 5:
			p.MessageIndex = number.Draw(t, "message")
		}
	}
}

// 500 entries in modules of five: both verifiers agree on each.
func TestVerifiersAgree(t *testing.T) {
	t.Parallel()
	whole, refused := 0, 0
	sharedtest.Check(t, func(t *rapid.T) {
		for _, failures := range agree(t, rapid.SliceOfN(anyEntry, 5, 5).Draw(t, "entries")) {
			if len(failures) == 0 {
				whole++
			} else {
				refused++
			}
		}
	})
	require.GreaterOrEqual(t, whole+refused, 500/sharedtest.Share())
	require.Greater(t, whole, 50/sharedtest.Share(), "entries that hold")
	require.Greater(t, refused, 50/sharedtest.Share(), "entries that don't")
}
