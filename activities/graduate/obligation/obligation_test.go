package obligation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

const said = "Wir prüfen es am 3. Mai. The archive stays in ColdStore for 30 days.\nNobody asked why."

// by returns a message of the conversation.
func by(role schema.Role, index int, text string) schema.Message {
	return schema.Message{Index: index, Role: role, Kind: schema.KindText, Text: text}
}

// spoken returns a session with messages of the user.
func spoken(texts map[int]string) *Session {
	messages := map[int]schema.Message{}
	for i, text := range texts {
		messages[i] = by(schema.RoleUser, i, text)
	}
	return NewSession(messages)
}

// proven returns an entry whose obligations all hold, and its session.
func proven(t require.TestingT) (schema.Entry, *Session) {
	messages := []schema.Message{by(schema.RoleUser, 0, "Hello."), by(schema.RoleUser, 1, said)}
	aligner := evidence.NewAligner(messages, func(i int) string { return fmt.Sprint("event ", i) })
	pieces, _ := aligner.AlignEntry([]schema.Quote{
		{MessageIndex: 1, Quote: "the archive stays in  ColdStore for 30 days"}, {MessageIndex: 1, Quote: "Nobody asked why."},
	})
	require.True(t, evidence.Proven(pieces))
	confidence := 0.9
	return schema.Entry{
		ID: "e", Type: schema.EntryTaskNote, CanonicalKey: "task:p:archive", Title: "ColdStore keeps the archive for 30 days",
		Task: &schema.ExtractedTask{Title: "Keep the archive"}, Confidence: &confidence, Evidence: pieces, EvidenceRule: evidence.Rule,
	}, spoken(map[int]string{0: "Hello.", 1: said})
}

// I5: the text of a tool, the harness or an earlier memory proves nothing, whatever the evidence claims, by any rule.
func TestUntrustedText(t *testing.T) {
	t.Parallel()
	kinds := map[string]schema.Message{
		"tool result":  {Role: schema.RoleTool, Kind: schema.KindToolResult},
		"tool call":    {Role: schema.RoleAssistant, Kind: schema.KindToolCall},
		"system":       {Role: schema.RoleSystem, Kind: schema.KindText},
		"thought":      {Role: schema.RoleAssistant, Kind: schema.KindThinking},
		"injected":     {Role: schema.RoleUser, Kind: schema.KindContext},
		"unknown role": {Kind: schema.KindText},
	}
	for name, m := range kinds {
		for rule := range evidence.Rule + 1 {
			e, _ := proven(t)
			e.EvidenceRule = rule
			for i := range e.Evidence {
				e.Evidence[i].Trust = ""
				if rule == evidence.Rule {
					e.Evidence[i].Trust = schema.TrustUser
				}
			}
			m.Index, m.Text = 1, said
			var refused []string
			for _, f := range NewSession(map[int]schema.Message{1: m}).Facts(e).Check() {
				refused = append(refused, f.Obligation)
			}
			require.Contains(t, refused, "trusted", "%s by rule %d", name, rule)
		}
	}
}

func TestProvenEntry(t *testing.T) {
	t.Parallel()
	e, s := proven(t)
	f := s.Facts(e)
	require.Empty(t, f.Check())
	require.Equal(t, "task:p:archive", f.Entry[TaskKey].Text)
	require.Equal(t, []string{"30", "coldstore"}, f.Entry[Claims].Texts)
	require.Equal(t, f.Pieces[0][Quoted], f.Pieces[0][Held])
	require.Equal(t, 26, f.Pieces[0][Start].Number)
	require.Equal(t, 25, f.Pieces[0][RunesToStart].Number)
	require.Equal(t, f, s.Facts(e), "facts depend on their arguments alone")
	for _, o := range List() {
		require.Equal(t, strings.ToLower(o.Name), o.Name)
		require.NotEmpty(t, o.Says)
	}
}

// Each change of an entry fails the listed obligations, and possibly others that depend on them.
func TestObligations(t *testing.T) {
	t.Parallel()
	confident := func(c float64) func(*schema.Entry) { return func(e *schema.Entry) { e.Confidence = &c } }
	piece := func(change func(*schema.Evidence)) func(*schema.Entry) {
		return func(e *schema.Entry) { change(&e.Evidence[0]) }
	}
	for name, c := range map[string]struct {
		change func(*schema.Entry)
		want   []string
	}{
		"no id":                  {func(e *schema.Entry) { e.ID = "" }, []string{"identified"}},
		"no type":                {func(e *schema.Entry) { e.Type = "" }, []string{"typed"}},
		"another type":           {func(e *schema.Entry) { e.Type = "rumor" }, []string{"typed"}},
		"no title":               {func(e *schema.Entry) { e.Title = " \u200b\n" }, []string{"titled"}},
		"too sure":               {confident(math.Nextafter(1, 2)), []string{"confident"}},
		"less than unsure":       {confident(-1e-9), []string{"confident"}},
		"no number":              {confident(math.NaN()), []string{"confident"}},
		"infinitely sure":        {confident(math.Inf(1)), []string{"confident"}},
		"sure":                   {confident(1), nil},
		"unsure":                 {confident(0), nil},
		"no confidence":          {func(e *schema.Entry) { e.Confidence = nil }, nil},
		"no evidence":            {func(e *schema.Entry) { e.Evidence = nil }, []string{"claimed", "evidenced"}},
		"an invalid title":       {func(e *schema.Entry) { e.Title = "a\xffb" }, []string{"readable"}},
		"an invalid quote":       {piece(func(p *schema.Evidence) { p.Quote += "\xff" }), []string{"readable", "sentences"}},
		"another number":         {func(e *schema.Entry) { e.Title = "Kept for 90 days" }, []string{"claimed"}},
		"another name":           {func(e *schema.Entry) { e.Title = "HotStore keeps it" }, []string{"claimed"}},
		"a number of the task":   {func(e *schema.Entry) { e.Task.Title = "Keep 4 archives" }, []string{"claimed"}},
		"a number of no task":    {func(e *schema.Entry) { e.Type, e.Task.Title = schema.EntryFact, "Keep 4 archives" }, nil},
		"a task without title":   {func(e *schema.Entry) { e.Task = nil }, nil},
		"not found":              {piece(func(p *schema.Evidence) { p.Found = false }), []string{"found", "sentences"}},
		"no event":               {piece(func(p *schema.Evidence) { p.EventID = "" }), []string{"event"}},
		"no message":             {piece(func(p *schema.Evidence) { p.MessageIndex = -1 }), []string{"inside", "message", "source", "text"}},
		"another message":        {piece(func(p *schema.Evidence) { p.MessageIndex = 0 }), []string{"inside", "source", "text"}},
		"an unknown message":     {piece(func(p *schema.Evidence) { p.MessageIndex = 7 }), []string{"inside", "source", "text", "trusted"}},
		"an empty span":          {piece(func(p *schema.Evidence) { p.Span.ByteEnd = p.Span.ByteStart }), []string{"ordered", "text"}},
		"a span backwards":       {piece(func(p *schema.Evidence) { p.Span.ByteEnd = 2 }), []string{"ordered", "text"}},
		"a span before":          {piece(func(p *schema.Evidence) { p.Span.ByteStart = -1 }), []string{"ordered", "text"}},
		"a span behind":          {piece(func(p *schema.Evidence) { p.Span.ByteEnd = 1000 }), []string{"inside", "runes", "text"}},
		"a span far behind":      {piece(func(p *schema.Evidence) { p.Span.ByteEnd = math.MaxInt }), []string{"inside", "runes", "text"}},
		"other runes":            {piece(func(p *schema.Evidence) { p.Span.RuneStart-- }), []string{"runes", "sentences"}},
		"other runes at the end": {piece(func(p *schema.Evidence) { p.Span.RuneEnd++ }), []string{"runes", "sentences"}},
		"another text":           {piece(func(p *schema.Evidence) { p.Text += "!" }), []string{"sentences", "text"}},
		"another quote":          {piece(func(p *schema.Evidence) { p.Quote = "The archive stays." }), []string{"quote", "sentences"}},
		"a part of a sentence": {piece(func(p *schema.Evidence) {
			pieces, _ := evidence.NewAligner([]schema.Message{by(schema.RoleUser, 1, said)}, func(int) string { return "event" }).
				AlignEntry([]schema.Quote{{MessageIndex: 1, Quote: "ColdStore for 30 days"}})
			*p = pieces[0]
		}), []string{"sentences"}},
		"a false verdict":  {piece(func(p *schema.Evidence) { p.Proven = false }), []string{"sentences"}},
		"an older rule":    {func(e *schema.Entry) { e.EvidenceRule = 0 }, []string{"sentences"}},
		"an unknown rule":  {func(e *schema.Entry) { e.EvidenceRule = 99 }, []string{"sentences"}},
		"another source":   {piece(func(p *schema.Evidence) { p.SourceHash = "0" }), []string{"sentences", "source"}},
		"another quoting":  {piece(func(p *schema.Evidence) { p.QuoteHash = "0" }), []string{"sentences"}},
		"another class":    {piece(func(p *schema.Evidence) { p.Trust = schema.TrustTool }), []string{"sentences"}},
		"a joined quoting": {piece(func(p *schema.Evidence) { p.Method = schema.MethodJoined }), []string{"sentences"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := proven(t)
			c.change(&e)
			var got []string
			for _, f := range s.Facts(e).Check() {
				require.Equal(t, e.ID, f.EntryID)
				require.NotEmpty(t, f.Reason)
				if f.Piece != 1 || name == "an older rule" || name == "an unknown rule" {
					got = append(got, f.Obligation)
				}
			}
			slices.Sort(got)
			got = slices.Compact(got)
			if len(c.want) == 0 {
				require.Empty(t, got)
			}
			require.Subset(t, got, c.want)
		})
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	e, s := proven(t)
	e.Title = "HotStore keeps it for 90 days"
	e.Evidence[0].Span.ByteEnd = 999
	var reasons []string
	for _, f := range s.Facts(e).Check() {
		reasons = append(reasons, fmt.Sprint(f.Piece, " ", f.Reason))
	}
	require.Contains(t, reasons, `-1 each number and identifier of the title occurs in the evidence: there is no "90", no "hotstore"`)
	require.Contains(t, reasons, `0 the span lies inside of the message: 999 is more than 87`)
}

// A piece that the rule of proof has proven meets all obligations, except those about the title's claims.
func TestProvenEvidenceHolds(t *testing.T) {
	t.Parallel()
	sentences := []string{
		"The *limit* is **high**.", "- it is a list", "> quoted text here.", "# A heading of it", "「やめます」と言った。", "Done -- at last!", "~~struck out~~ it is",
		"It is… unfinished", "Straße und Maße.", "`code_here` runs.", "E\u0301cole est fermée.", "He said \"no more\".", "(In brackets it is.)", "مرحبا بكم جميعا.",
	}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.SampledFrom(sentences), 1, 5).Draw(t, "said")
		message := strings.Join(said, rapid.SampledFrom([]string{" ", "\n", "\n\n", "  "}).Draw(t, "between"))
		quote := rapid.SampledFrom(said).Draw(t, "quote")
		switch rapid.IntRange(0, 4).Draw(t, "change") {
		case 0:
			quote = strings.TrimRight(quote, ".。")
		case 1:
			quote = strings.ToUpper(quote)
		case 2:
			quote = strings.ReplaceAll(quote, "*", "")
		}
		pieces, _ := evidence.NewAligner([]schema.Message{by(schema.RoleUser, 0, message)}, func(int) string { return "event" }).
			AlignEntry([]schema.Quote{{Quote: quote}})
		if !evidence.Proven(pieces) {
			return
		}
		n++
		e := schema.Entry{ID: "e", Type: schema.EntryFact, Title: "plain", Evidence: pieces, EvidenceRule: evidence.Rule}
		require.Empty(t, spoken(map[int]string{0: message}).Facts(e).Check())
	})
	require.Greater(t, n, 20)
}

// Long evidence lists only the claimed words.
func TestManyWords(t *testing.T) {
	t.Parallel()
	e, _ := proven(t)
	var words []string
	for i := range 2 * maxStated {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	e.Evidence[0].Text = strings.Join(words, " ") + " 30 ColdStore"
	f := spoken(map[int]string{1: said}).Facts(e)
	require.Equal(t, []string{"30", "coldstore"}, f.Entry[Stated].Texts)
}

func BenchmarkFacts(b *testing.B) {
	e, _ := proven(b)
	b.ResetTimer()
	for b.Loop() {
		s := spoken(map[int]string{0: "Hello.", 1: said})
		for range 1000 {
			s.Facts(e)
		}
	}
}
