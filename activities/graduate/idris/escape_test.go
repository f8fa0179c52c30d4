package idris

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/graduate/obligation"
	"axiommind/deploy/local/sharedtest"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text, 5 words.": "plain text, 5 words.",
		`say "no"`:             `say \x22no\x22`,
		`a\SOH`:                `a\x5cSOH`,
		"\x0e" + "H":           `\xeH`,
		"é5f g":                `\xe9\x35\x66 g`,
		"{-}":                  `\x7b\x2d\x7d`,
		"a\nb\x00":             `a\xa\x62\x0`,
		"\u202e\U0010ffff":     `\x202e\x10ffff`,
	} {
		require.Equal(t, want, escape(text), "%q", text)
	}
}

// checkLiteral reports whether a literal has only numeric escapes and characters that the lexer of Idris reads
// unchanged, and whether it denotes the text.
func checkLiteral(t require.TestingT, text string) {
	literal := `"` + escape(text) + `"`
	toks, err := tokens(literal)
	require.NoError(t, err)
	require.Equal(t, []token{{'s', text}}, toks)
	for _, r := range literal {
		require.True(t, ' ' <= r && r < 0x7f, "%q", literal)
	}
	require.Equal(t, 2, strings.Count(literal, `"`))
}

func TestEscapeOfAnyText(t *testing.T) { // Not parallel: rapid describes a generator once, without a lock, and others share this one.
	rapid.Check(t, func(t *rapid.T) { checkLiteral(t, strings.ToValidUTF8(anyText.Draw(t, "text"), "\ufffd")) })
}

func FuzzEscape(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			checkLiteral(t, text)
		}
	})
}

// shape returns the tokens of a module without the content of its literals.
func shape(t require.TestingT, text string) [][]token {
	_, body, _ := strings.Cut(text, "\n")
	var out [][]token
	for line := range strings.Lines(strings.Replace(body, "import Data.So\n", "", 1)) {
		toks, err := tokens(strings.TrimSuffix(line, "\n"))
		require.NoError(t, err)
		for i := range toks {
			if toks[i].kind == 's' {
				toks[i].text = ""
			}
		}
		out = append(out, toks)
	}
	return out
}

// No text changes the structure of a module, in any field of an entry.
func TestInjection(t *testing.T) {
	t.Parallel()
	want := shape(t, NewModule([]obligation.Facts{sample(t)}).Text)
	check := func(t require.TestingT, text string) {
		f := sample(t)
		inject(f.Entry, text)
		for _, r := range f.Pieces {
			inject(r, text)
		}
		m := NewModule([]obligation.Facts{f})
		require.Equal(t, want, shape(t, m.Text))
		_, err := checkFragment(m.Text)
		require.NoError(t, err)
	}
	for _, text := range hostile {
		check(t, strings.ToValidUTF8(text, "\ufffd"))
	}
	sharedtest.Check(t, func(t *rapid.T) { check(t, strings.ToValidUTF8(anyText.Draw(t, "text"), "\ufffd")) })
}

// inject replaces all texts of a record.
func inject(r obligation.Record, text string) {
	for field, l := range r {
		l.Text = text
		l.Texts = append([]string(nil), l.Texts...)
		for i := range l.Texts {
			l.Texts[i] = text
		}
		r[field] = l
	}
}

// A module outside the fragment is refused, even if it is valid Idris and named after its text.
func TestStrayingModules(t *testing.T) {
	t.Parallel()
	m := NewModule([]obligation.Facts{sample(t)})
	_, err := checkFragment(m.Text)
	require.NoError(t, err)
	renamed := func(body string) string { return "module " + nameOf(body) + "\n" + body }
	_, body, _ := strings.Cut(m.Text, "\n")
	for name, change := range map[string][2]string{
		"another proof":            {"E0)) Oh)", "E0)) (believe_me Oh))"},
		"a hole":                   {"E0)) Oh)", "E0)) ?oh)"},
		"a weaker comparison":      {"same x y = x == y", "same x y = True"},
		"a weaker obligation":      {"titled x = filled (entryTitle x)", "titled x = True"},
		"a weaker wrapper":         {"So (titled x) -> ", ""},
		"a wrapper of another":     {"e0_verified = MkVerified E0", "e0_verified = MkVerified E1"},
		"a proof of another":       {"e0s0_proven = MkProven E0S0", "e0s0_proven = MkProven E0S1"},
		"a proof too few":          {"  (the (So (titled E0)) Oh)\n", ""},
		"a proof too many":         {"E0)) Oh)", "E0)) Oh)\n  (the (So (titled E0)) Oh)"},
		"a proof of less":          {"(the (So (titled E0)) Oh)", "(the (So True) Oh)"},
		"an obligation of another": {"(the (So (titled E0)) Oh)", "(the (So (readable E0)) Oh)"},
		"a proof of nothing":       {"e0_verified : Verified E0", "e0_verified : So True"},
		"a piece that is left out": {"(And e0s0_proven (And e0s1_proven None))", "(And e0s0_proven None)"},
		"a piece that is repeated": {"(And e0s0_proven (And e0s1_proven None))", "(And e0s0_proven (And e0s0_proven None))"},
		"a later piece":            {"E0S0 : EvidenceSpan", "early : Proven E0S1\nearly = e0s1_proven\nE0S0 : EvidenceSpan"},
		"another import":           {"import Data.So", "import Data.So\nimport System"},
		"a pragma":                 {"E0 : Candidate", "%runElab x\nE0 : Candidate"},
		"a comment":                {"E0 : Candidate", "-- x\nE0 : Candidate"},
		"a block comment":          {"E0 : Candidate", "{- E0 : Candidate -}\nE0 : Candidate"},
		"a function":               {"E0 : Candidate", "f : Int -> Int\nf x = x\nE0 : Candidate"},
		"a primitive":              {"E0)) Oh)", "E0)) (prim__believe_me Oh))"},
		"a bare number":            {"(the Int 1)", "1"},
		"a number for a text":      {`(MkEventId (the String "event"))`, "(MkEventId (the Int 1))"},
		"an interpolation":         {`"event`, `"\{"event`},
		"an escape with a name":    {`"event`, `"\SOH`},
		"a text of several lines":  {`"event`, `"""event`},
		"two definitions":          {"E0 : Candidate", "E0 : Candidate\nE0 = E0"},
		"two declarations":         {"E0 : Candidate", "E0 : Candidate\nE0 : Candidate"},
		"no definition":            {"E0 : Candidate", "E9 : Candidate\nE0 : Candidate"},
		"an indented line":         {"E0 : Candidate", " E0 : Candidate"},
		"a where":                  {"MkVerified E0", "MkVerified E0 where"},
	} {
		require.True(t, strings.Contains(body, change[0]), name)
		changed := renamed(strings.Replace(body, change[0], change[1], 1))
		_, err := checkFragment(changed)
		require.Error(t, err, name)
	}
	_, err = checkFragment(strings.Replace(m.Text, "30 days", "90 days", 1))
	require.ErrorContains(t, err, "not named by its text")
}

func BenchmarkModule(b *testing.B) {
	facts := make([]obligation.Facts, 1000)
	for i := range facts {
		facts[i] = sample(b)
	}
	b.ResetTimer()
	for b.Loop() {
		b.SetBytes(int64(len(NewModule(facts).Text)))
	}
}
