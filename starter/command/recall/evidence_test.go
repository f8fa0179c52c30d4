package recall_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/activities/evidence/audit"
	"axiommind/activities/graduate"
	"axiommind/activities/retrieve"
	"axiommind/activities/task"
	"axiommind/activities/text"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/recall"
	"axiommind/starter/command/show"
	"axiommind/starter/command/tasks"
	"axiommind/starter/command/truth"
)

// piece returns evidence for the text between ⟦ and ⟧, in the sentences between ‹ and ›.
func piece(marked string) schema.Evidence {
	plain := strings.NewReplacer("⟦", "", "⟧", "", "‹", "", "›", "")
	at := func(mark string) int {
		before, _, _ := strings.Cut(marked, mark)
		return len(plain.Replace(before))
	}
	message := plain.Replace(marked)
	span := func(start, end int) schema.Span {
		runes := utf8.RuneCountInString(message[:start])
		return schema.Span{ByteStart: start, ByteEnd: end, RuneStart: runes, RuneEnd: runes + utf8.RuneCountInString(message[start:end])}
	}
	e := schema.Evidence{MessageIndex: 3, Found: true, Aligned: true, Method: schema.MethodExact, Confidence: 1, Span: span(at("⟦"), at("⟧"))}
	e.Text = message[e.Span.ByteStart:e.Span.ByteEnd]
	e.Quote = e.Text
	if strings.Contains(marked, "‹") {
		e.Within = &schema.Passage{Span: span(at("‹"), at("›"))}
		e.Within.Text = message[e.Within.Span.ByteStart:e.Within.Span.ByteEnd]
	}
	return e
}

func provenPiece(marked string) schema.Evidence {
	e := piece(marked)
	e.Proven = true
	return e
}

// quoting returns a piece whose quote differs from the source's text.
func quoting(quote string, method schema.Method, confidence float64, marked string) schema.Evidence {
	e := piece(marked)
	e.Quote, e.Method, e.Confidence, e.Aligned = quote, method, confidence, method.Aligns()
	return e
}

func missing(quote, reason string) schema.Evidence {
	return schema.Evidence{MessageIndex: 3, Quote: quote, Reason: reason}
}

// Every form of evidence is shown in one line and with the entry.
func TestFormsOfEvidence(t *testing.T) {
	t.Parallel()
	several := provenPiece("⟦Use tabs.⟧ Use tabs.")
	several.Occurrences = []schema.Span{several.Span, {ByteStart: 10, ByteEnd: 19, RuneStart: 10, RuneEnd: 19}}
	several.Reason = schema.ReasonAmbiguous
	many := several
	many.Occurrences = make([]schema.Span, evidence.MostListed(many.Method))
	similar := quoting("It takes 46 days in all.", schema.MethodApproximate, 0.914, "‹⟦It takes 40 days in all.⟧›")
	similar.Occurrences = make([]schema.Span, evidence.MostListed(similar.Method))
	tooLong := piece("Never mind. ‹It waits ⟦30 seconds⟧ and more.› Good.")
	tooLong.Within.Text = ""
	const lost = "“Fi” — not found"
	for name, tt := range map[string]struct {
		piece                    schema.Evidence
		standing, line, passages string
	}{
		"proven": {provenPiece("Yes. ⟦We use Go.⟧ Fine?"), "proven",
			"“We use Go.” — session s, message 3, bytes 5–15, exact, proven", "Yes. ⟦We use Go.⟧ Fine?"},
		"in several places": {several, "proven; at 2 places, one is shown",
			"“Use tabs.” — session s, message 3, bytes 0–9, exact, proven; at 2 places, one is shown", "⟦Use tabs.⟧ Use tabs."},
		"in more places than are listed": {many, "proven; at 256 or more places, one is shown",
			"“Use tabs.” — session s, message 3, bytes 0–9, exact, proven; at 256 or more places, one is shown", "⟦Use tabs.⟧ Use tabs."},
		"similar to more than are listed": {similar, "found at 91 %, not aligned: “46” for “40”; at 16 or more places, one is shown",
			"“⟦It takes 40 days in all.⟧” — session s, message 3, bytes 0–24, approximate, found at 91 %, not aligned: “46” for “40”; at 16 or more places, one is shown",
			"⟦It takes 40 days in all.⟧"},
		"a piece of a sentence": {piece("Hm. ‹The gateway waits 1⟦30 seconds before it closes⟧.› Good."),
			"aligned, not proven: the quote is a piece of a sentence",
			"“The gateway waits 1⟦30 seconds before it closes⟧.” — session s, message 3, bytes 23–50, exact, aligned, not proven: the quote is a piece of a sentence",
			"The gateway waits 1⟦30 seconds before it closes⟧."},
		"pieces of two sentences": {piece("‹We ⟦ship on Friday. Not⟧ before noon.›"), "aligned, not proven: the quote is a piece of a sentence",
			"“We ⟦ship on Friday. Not⟧ before noon.” — session s, message 3, bytes 3–22, exact, aligned, not proven: the quote is a piece of a sentence",
			"We ⟦ship on Friday. Not⟧ before noon."},
		"a question mark": {piece("‹⟦Does it run⟧?›"), "aligned, not proven: “?” is missing",
			"“⟦Does it run⟧?” — session s, message 3, bytes 0–11, exact, aligned, not proven: “?” is missing", "⟦Does it run⟧?"},
		"a superscript": {quoting("It has 102 cells.", schema.MethodNormalized, 0.98, "‹⟦It has 10² cells.⟧›"),
			"aligned, not proven: “102” for “10²”",
			"“⟦It has 10² cells.⟧” — session s, message 3, bytes 0–18, normalized, aligned, not proven: “102” for “10²”", "⟦It has 10² cells.⟧"},
		"another number": {quoting("It takes 46 days in all.", schema.MethodApproximate, 0.914, "‹⟦It takes 40 days in all.⟧›"),
			"found at 91 %, not aligned: “46” for “40”",
			"“⟦It takes 40 days in all.⟧” — session s, message 3, bytes 0–24, approximate, found at 91 %, not aligned: “46” for “40”",
			"⟦It takes 40 days in all.⟧"},
		"without not": {quoting("We do deploy on Fridays at noon", schema.MethodApproximate, 0.89, "‹⟦We do not deploy on Fridays at noon⟧, ever.›"),
			"found at 89 %, not aligned: “not” is missing",
			"“⟦We do not deploy on Fridays at noon⟧, ever.” — session s, message 3, bytes 0–35, approximate, found at 89 %, not aligned: “not” is missing",
			"⟦We do not deploy on Fridays at noon⟧, ever."},
		"from inside a word": {quoting("30 secnds before it closes", schema.MethodApproximate, 0.93, "‹It waits 1⟦30 seconds before it closes⟧.›"),
			"found at 93 %, not aligned: “30 secnds” for “130 seconds”",
			"“It waits 1⟦30 seconds before it closes⟧.” — session s, message 3, bytes 10–37, approximate, found at 93 %, not aligned: “30 secnds” for “130 seconds”",
			"It waits 1⟦30 seconds before it closes⟧."},
		"in pieces": {quoting("Keep it … always", schema.MethodJoined, 0.9, "‹⟦Keep it for a year, not always⟧.›"),
			"found in pieces, not aligned: “…” for “for a year, not”",
			"“⟦Keep it for a year, not always⟧.” — session s, message 3, bytes 0–30, joined, found in pieces, not aligned: “…” for “for a year, not”",
			"⟦Keep it for a year, not always⟧."},
		"sentences too long to keep": {tooLong, "aligned, not proven: the quote is a piece of a sentence",
			"“…⟦30 seconds⟧…” — session s, message 3, bytes 21–31, exact, aligned, not proven: the quote is a piece of a sentence",
			"Never mind. It waits ⟦30 seconds⟧ and more. Good."},
		"lines of a list": {piece("Plan:\n- ‹write the ⟦page\n- send it⟧ to Ada›\n- rest"), "aligned, not proven: the quote is a piece of a sentence",
			"“write the ⟦page - send it⟧ to Ada” — session s, message 3, bytes 18–32, exact, aligned, not proven: the quote is a piece of a sentence",
			"write the ⟦page\n- send it⟧ to Ada"},
		"Chinese": {quoting("我们周五发布新的版本", schema.MethodApproximate, 0.9, "好。‹⟦我们周四发布新的版本⟧。›"), "found at 90 %, not aligned: “五” for “四”",
			"“⟦我们周四发布新的版本⟧。” — session s, message 3, bytes 6–36, approximate, found at 90 %, not aligned: “五” for “四”", "⟦我们周四发布新的版本⟧。"},
		"Arabic": {quoting("وصل ٤٦ طلبا من العملاء", schema.MethodApproximate, 0.95, "‹⟦وصل ٤٠ طلبا من العملاء⟧؟›"), "found at 95 %, not aligned: “٤٦” for “٤٠”",
			"“⟦وصل ٤٠ طلبا من العملاء⟧؟” — session s, message 3, bytes 0–40, approximate, found at 95 %, not aligned: “٤٦” for “٤٠”", "⟦وصل ٤٠ طلبا من العملاء⟧؟"},
		"not found": {missing("Fi", schema.ReasonNotFound), "not found", lost, ""},
		"too short": {missing("Fi", schema.ReasonTooShort), "not found (too short)", lost + " (too short)", ""},
		"not alike": {missing("Fi", schema.ReasonBelowThreshold), "not found (below threshold)", lost + " (below threshold)", ""},
		"no reason": {missing("Fi", ""), "not found", lost, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.standing, show.EvidenceState(tt.piece, show.LineDifferences))
			require.Equal(t, tt.line, show.EvidenceLine("s", "", tt.piece))
			shown := shownWithEntry(t, tt.piece)
			require.Contains(t, shown, "\nevidence 1 of 1: "+show.EvidenceState(tt.piece, show.ProofDifferences)+"\n")
			if tt.piece.Found {
				require.True(t, strings.HasSuffix(shown, ", checked against the source\n"+quotedAs(tt.piece)+
					"  │ "+strings.ReplaceAll(tt.passages, "\n", "\n  │ ")+"\n"), shown)
			} else {
				require.True(t, strings.HasSuffix(shown, "  │ “Fi”\n"), shown)
			}
		})
	}
}

func quotedAs(e schema.Evidence) string {
	if e.Aligned {
		return ""
	}
	return "  quoted as “" + e.Quote + "”\n"
}

// contexts are the texts around those pieces above that are shown without their sentences.
var contexts = map[string][2]string{
	"We use Go.": {"Yes. ", " Fine?"}, "Use tabs.": {"", " Use tabs."}, "30 seconds": {"Never mind. It waits ", " and more. Good."},
}

func shownWithEntry(t *testing.T, e schema.Evidence) string {
	t.Helper()
	around := contexts[e.Text]
	p := show.Proof{Evidence: e, Role: schema.RoleUser, Before: around[0], After: around[1], Holds: e.Found}
	var b strings.Builder
	recall.PrintEntry(&b, entry.Row{}, []show.Proof{p}, graduate.Life{})
	return b.String()
}

// An entry is shown with the state of its evidence as a whole, and with the pieces that the source does not confirm.
func TestEvidenceOfEntry(t *testing.T) {
	t.Parallel()
	good := show.Proof{Evidence: provenPiece("⟦Use tabs.⟧"), Role: schema.RoleUser, Holds: true}
	forged := show.Proof{Evidence: provenPiece("⟦Use tabs.⟧"), Problem: "the log holds\nno such message"}
	lost := show.Proof{Evidence: missing("Use spaces.", schema.ReasonNotFound), Problem: schema.ReasonNotFound}
	for name, tt := range map[string]struct {
		aligned, proven bool
		proofs          []show.Proof
		says            string
	}{
		"proven":      {true, true, []show.Proof{good}, "\nevidence  proven\n"},
		"aligned":     {true, false, []show.Proof{good, good}, "\nevidence  aligned, not proven\n"},
		"not aligned": {false, false, []show.Proof{good, lost}, "\nevidence  not aligned\n"},
		"none":        {false, false, nil, "\nevidence  no evidence\n"},
		"one forged":  {true, true, []show.Proof{good, forged}, "\nevidence  recorded as proven, but 1 piece is not true of the source\n"},
		"two forged":  {true, false, []show.Proof{forged, forged}, "\nevidence  recorded as aligned, not proven, but 2 pieces are not true of the source\n"},
		"how":         {true, true, []show.Proof{forged}, "\nevidence 1 of 1: not true of the source: the log holds no such message\n  recorded as proven\n  │ “Use tabs.”\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			recall.PrintEntry(&b, entry.Row{Entry: schema.Entry{Title: "T", EvidenceAligned: tt.aligned, EvidenceProven: tt.proven}}, tt.proofs, graduate.Life{})
			require.Contains(t, b.String(), tt.says)
		})
	}
}

// A search shows the state of each hit's evidence, and the sentences of unproven pieces.
func TestSearchShowsStanding(t *testing.T) {
	t.Parallel()
	proven, cutOff := provenPiece("⟦Use tabs.⟧"), piece("‹Never ⟦use tabs.⟧›")
	h := retrieve.Hit{Entry: schema.Entry{ID: "0123456789", Title: "Use tabs.", Type: schema.EntryDecision, Stage: schema.StageWorking,
		SessionID: "a", Evidence: []schema.Evidence{proven}}, EvidenceSessionID: "a", Score: 0.5}
	h.Sessions = []retrieve.Statement{
		{SessionID: "a"},
		{SessionID: "b", EvidenceSessionID: "b", EntryID: "abcdefghij", Type: schema.EntryFact, Stage: schema.StageWorking, Evidence: []schema.Evidence{proven, cutOff}},
		{SessionID: "c", EvidenceSessionID: "c", EntryID: "klm", Type: schema.EntryFact, Stage: schema.StageRaw, Evidence: []schema.Evidence{missing("Tabs", schema.ReasonTooShort)}},
		{SessionID: "d", EvidenceSessionID: "d", EntryID: "nop", Type: schema.EntryFact, Stage: schema.StageRaw},
	}
	var b strings.Builder
	_, err := recall.PrintHits(&b, &recall.SearchOptions{}, retrieve.Result{Hits: []retrieve.Hit{h}})
	require.NoError(t, err)
	require.Equal(t, `1. Use tabs.
   decision · working · proven · score 0.500 · - · entry 01234567 · said in 4 sessions
   “Use tabs.” — session a, message 3, bytes 0–9, exact, proven
   also in session b: fact · working · aligned, not proven · - · entry abcdefgh
   “Use tabs.” — session b, message 3, bytes 0–9, exact, proven
   “Never ⟦use tabs.⟧” — session b, message 3, bytes 6–15, exact, aligned, not proven: the quote is a piece of a sentence
   also in session c: fact · raw · not aligned · - · entry klm
   “Tabs” — not found (too short)
   also in session d: fact · raw · no evidence · - · entry nop
`, b.String())
}

// A finding shows how the piece was recorded, and its sentences if it does not prove.
func TestFindingShowsPiece(t *testing.T) {
	t.Parallel()
	e := quoting("It takes 46 days\nin all.", schema.MethodApproximate, 0.91, "Well. ‹⟦It takes 40 days in all.⟧›")
	outside := e
	outside.Within = &schema.Passage{Span: schema.Span{ByteStart: 20, ByteEnd: 25}, Text: "forged"}
	proven := provenPiece("⟦Use tabs.⟧")
	for name, tt := range map[string]struct {
		piece *schema.Evidence
		says  string
	}{
		"approximate": {&e, "FALSE  session s, entry 01234567, message 3, bytes 6–30\n       “It takes 46 days in all.”\n" +
			"       recorded as found at 91 %, not aligned: “46” for “40”\n       in “⟦It takes 40 days in all.⟧”\n       entries, event e: p\n"},
		"other sentences": {&outside, "FALSE  session s, entry 01234567, message 3, bytes 6–30\n       “It takes 46 days in all.”\n" +
			"       recorded as found at 91 %, not aligned: “46” for “40”\n       entries, event e: p\n"},
		"proven":   {&proven, "FALSE  session s, entry 01234567, message 3, bytes 0–9\n       “Use tabs.”\n       recorded as proven\n       entries, event e: p\n"},
		"no piece": {nil, "FALSE  session s, entry 01234567\n       entries, event e: p\n"},
	} {
		var b strings.Builder
		truth.PrintFinding(&b, audit.Finding{SessionID: "s", EntryID: "0123456789", StoredIn: "entries", EventID: "e", Evidence: tt.piece, Problem: "p"})
		require.Equal(t, tt.says, b.String(), name)
	}
}

// A done report shows the state of its evidence, in a list and in the history.
func TestDoneReportShowsStanding(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		aligned, proven bool
		pieces          []schema.Evidence
		says            string
	}{
		{true, true, []schema.Evidence{provenPiece("⟦Done.⟧")}, "proven"},
		{true, false, []schema.Evidence{piece("‹⟦Done⟧ is it.›")}, "aligned, not proven"},
		{false, false, []schema.Evidence{missing("Done!", schema.ReasonNotFound)}, "not aligned"},
		{false, false, nil, "no evidence"},
	} {
		report := &task.DoneReport{At: at, EvidenceAligned: tt.aligned, EvidenceProven: tt.proven}
		if len(tt.pieces) > 0 {
			report.Quote = tt.pieces[0].Quote
		}
		require.Equal(t, " · reported done on 2026-03-01, "+tt.says, tasks.DoneText(report))
		payload, err := json.Marshal(schema.TaskDoneReportedPayload{EvidenceAligned: tt.aligned, EvidenceProven: tt.proven, Evidence: tt.pieces})
		require.NoError(t, err)
		require.Equal(t, "reported done, "+tt.says, tasks.EventText(schema.Event{Type: schema.TaskDoneReported, Payload: payload}))
	}
	require.Empty(t, tasks.DoneText(nil))
}

// A history shows the sentences of unproven evidence.
func TestTaskHistoryShowsPieces(t *testing.T) {
	t.Parallel()
	cutOff := piece("‹It is not ⟦done⟧.›")
	d := task.Detail{History: []task.HistoryItem{{
		Event: schema.Event{Type: "task_merged", SessionID: "s", Payload: []byte("{}")}, Act: schema.Act{EntryID: "e"}, Evidence: []schema.Evidence{cutOff},
	}}}
	var b strings.Builder
	tasks.PrintTask(&b, d)
	require.Contains(t, b.String(), "\n      “It is not ⟦done⟧.” — session s, message 3, bytes 10–14, exact, aligned, not proven: the quote is a piece of a sentence\n")
}

// The topic about proof shows the lines that the commands print.
func TestTopicShowsEvidence(t *testing.T) {
	t.Parallel()
	topic, err := os.ReadFile("../../help/proof.md")
	require.NoError(t, err)
	message := schema.Message{Role: schema.RoleUser, Text: "We ship on Tuesdays. Never ship on the day before a holiday."}
	require.Contains(t, string(topic), "“"+message.Text+"”")
	for _, quote := range []string{"Never ship on the day before a holiday.", "ship on the day before a holiday", "Never ship on the day after a holiday."} {
		pieces, _ := evidence.NewAligner([]schema.Message{message}, nil).AlignEntry([]schema.Quote{{Quote: quote}})
		require.Contains(t, strings.ReplaceAll(string(topic), "\n", " "), "“"+quote+"”")
		require.Contains(t, string(topic), "\n   "+show.EvidenceLine("releases", "", pieces[0])+"\n")
	}
}

// The entry id in the README exists in the demo's memories.
func TestReadmeNamesEntry(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	quote := "Done: the charge call now carries an idempotency key."
	place := schema.Evidence{MessageIndex: 6, Found: true}
	key := entry.CanonicalKey(schema.Entry{Type: schema.EntryTaskNote, Title: quote, Evidence: []schema.Evidence{place}})
	id := entry.ID(schema.SessionKey{Scope: schema.Scope{Project: "demo", User: "default"}, SessionID: "demo-checkout"}, schema.EntryTaskNote, key)
	require.Contains(t, string(readme), " · entry "+command.ShortID(id)+"\n   “"+quote+"”")
	require.Contains(t, string(readme), "entry show "+command.ShortID(id)+" --project demo")
	require.Contains(t, recall.EntryShowCommand(new(command.App)).Example, command.ShortID(id))
}

// In one line, long sentences are cut far from the quote. With the entry they are whole. Many differences are counted.
func TestLongEvidence(t *testing.T) {
	t.Parallel()
	ideographs := strings.Repeat("字", 150)
	e := piece("‹" + ideographs + "⟦引用⟧" + ideographs + "。›")
	require.Contains(t, show.EvidenceLine("s", "", e), "“…"+ideographs[:3*show.LineGraphemes]+"⟦引用⟧"+ideographs[:3*show.LineGraphemes]+"…” — ")
	require.Contains(t, shownWithEntry(t, e), "  │ "+ideographs+"⟦引用⟧"+ideographs+"。\n")
	e = piece("‹It " + strings.Repeat("⟦", 1) + strings.Repeat("really ", 100) + "⟧works.›")
	line := show.EvidenceLine("s", "", e)
	require.Contains(t, line, "…⟧works.” — ")
	require.Contains(t, line, "“It ⟦really really ")
	require.Less(t, uniseg.GraphemeClusterCount(line), 400)

	quote, source := "", ""
	for i := range 20 {
		quote += fmt.Sprintf("the value is %d here, ", i)
		source += fmt.Sprintf("the value is %d here, ", i+50)
	}
	e = quoting(quote, schema.MethodApproximate, 0.86, "‹⟦"+source+"⟧›")
	require.Equal(t, "found at 86 %, not aligned: “0” for “50”, “1” for “51”, “2” for “52”, 17 more differences", show.EvidenceState(e, show.LineDifferences))
	require.True(t, strings.HasSuffix(show.EvidenceState(e, show.ProofDifferences), "“11” for “61”, 8 more differences"))
	e = quoting("x "+strings.Repeat("much ", 100), schema.MethodJoined, 0.86, "‹⟦x⟧›")
	require.Contains(t, show.EvidenceState(e, show.LineDifferences), "…” is added")
}

// However a long quote is shown, the statement that it proves stays visible.
func TestLongEvidenceKeepsTheStatement(t *testing.T) {
	t.Parallel()
	const statement = "We decided to use ClickHouse for the event log."
	calm := strings.Repeat("The week was calm. ", 30)
	long := calm + statement + " " + calm
	aligned := piece("‹⟦" + long + "⟧ and more.›")
	for name, e := range map[string]schema.Evidence{"proven": provenPiece("⟦" + long + "⟧"), "aligned": aligned, "not found": missing(long, "")} {
		line := show.EvidenceLine("s", statement, e)
		require.Contains(t, line, statement, name)
		require.Less(t, uniseg.GraphemeClusterCount(line), 500, name)
	}
	var b strings.Builder
	_, err := recall.PrintHits(&b, &recall.SearchOptions{}, retrieve.Result{Hits: []retrieve.Hit{
		{Entry: schema.Entry{ID: "12345678", Title: statement, Evidence: []schema.Evidence{provenPiece("⟦" + long + "⟧")}}},
	}})
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(b.String(), statement), "the title and its quote: %s", b.String())
}

// A source cannot insert marks, control a terminal, reorder a line or start a new one.
func TestHostileEvidence(t *testing.T) {
	t.Parallel()
	// Squares have the same length as the marks, which replace them below as marks of the source.
	e := piece("‹A □" + commandtest.Red + "■ " + commandtest.Turn + " \n⟦the quote⟧ " + commandtest.Link + commandtest.Ghost + ".\r\nevidence 2 of 2: proven\u2028\u0085■›")
	e.Within.Text = strings.NewReplacer("□", "⟦", "■", "⟧").Replace(e.Within.Text)
	e.Quote = commandtest.Turn + commandtest.Red + "\nthe quote"
	e.Method, e.Aligned = schema.MethodApproximate, false
	lost := missing("quote\nforged: "+commandtest.Red+commandtest.Turn, schema.ReasonNotFound)

	for _, e := range []schema.Evidence{e, lost} {
		var raw bytes.Buffer
		w := &text.Writer{To: &raw}
		var b strings.Builder
		show.SayEvidence(&b, "s", "", []schema.Evidence{e})
		require.Equal(t, 1, strings.Count(b.String(), "\n"), b.String())
		b.WriteString(shownWithEntry(t, e))
		truth.PrintFinding(&b, audit.Finding{SessionID: "s", Evidence: &e, Problem: "p"})
		_, err := w.Write([]byte(b.String()))
		require.NoError(t, err)
		require.NoError(t, w.Flush())
		commandtest.RequireHarmless(t, commandtest.Output{Out: raw.String()})
		require.NotContains(t, raw.String(), "\nevidence 2 of 2")
		require.NotContains(t, raw.String(), "\nforged")
		if e.Found {
			require.Equal(t, 3, strings.Count(raw.String(), "⟦"), raw.String())
			require.Equal(t, 3, strings.Count(raw.String(), "⟧"))
			require.Contains(t, raw.String(), "A <U+27E6>")
		}
	}
}

// Any stored evidence is shown in one line without an error.
func TestAnyEvidenceIsShown(t *testing.T) {
	t.Parallel()
	span := rapid.Custom(func(t *rapid.T) schema.Span {
		n := rapid.IntRange(-3, 30)
		return schema.Span{ByteStart: n.Draw(t, "start"), ByteEnd: n.Draw(t, "end")}
	})
	rapid.Check(t, func(t *rapid.T) {
		e := schema.Evidence{
			Quote: rapid.String().Draw(t, "quote"), Text: rapid.String().Draw(t, "text"), Span: span.Draw(t, "span"),
			Found: rapid.Bool().Draw(t, "found"), Aligned: rapid.Bool().Draw(t, "aligned"), Proven: rapid.Bool().Draw(t, "proven"),
			Method: schema.Method(rapid.String().Draw(t, "method")), Reason: rapid.String().Draw(t, "reason"),
		}
		if rapid.Bool().Draw(t, "held") {
			e.Within = &schema.Passage{Span: span.Draw(t, "within"), Text: rapid.String().Draw(t, "sentences")}
		}
		var b strings.Builder
		show.SayEvidence(&b, rapid.String().Draw(t, "session"), rapid.String().Draw(t, "statement"), []schema.Evidence{e})
		require.Equal(t, 1, strings.Count(b.String(), "\n"))
		show.Proof{Evidence: e, Holds: rapid.Bool().Draw(t, "holds")}.Print(&b)
		truth.PrintFinding(&b, audit.Finding{Evidence: &e})
	})
}

// The JSON output contains the stored piece, whether the source confirms it, the text around it and the differences.
func TestProofInJSON(t *testing.T) {
	t.Parallel()
	e := quoting("It takes 46\u202e days.", schema.MethodApproximate, 0.91, "‹⟦It takes 40 days.⟧›")
	p := show.Proof{Evidence: e, Role: schema.RoleUser, Before: "a", After: "b", Holds: true, Differences: evidence.Differences(e.Quote, e.Text)}
	var out bytes.Buffer
	require.NoError(t, command.Encode(&out, p))
	var fields map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &fields))
	for name, want := range map[string]any{
		"found": true, "aligned": false, "proven": false, "quote": e.Quote, "text": e.Text, "holds": true, "before": "a", "after": "b",
		"differences": []any{map[string]any{"quote": "46\u202e", "source": "40"}},
	} {
		require.Equal(t, want, fields[name], name)
	}
	require.Equal(t, e.Text, fields["within"].(map[string]any)["text"])
	require.NotContains(t, fields, "problem")
}

// The text before and after a span has the requested number of characters, and marks omissions.
func TestGraphemesAround(t *testing.T) {
	t.Parallel()
	const two = "👩\u200d🚀é"
	for n, want := range map[int][2]string{1: {"👩\u200d🚀…", "…é"}, 2: {two, two}, 3: {two, two}} {
		require.Equal(t, want, [2]string{show.FirstGraphemes(two, n), show.LastGraphemes(two, n)}, n)
	}
	require.Empty(t, show.FirstGraphemes("", 1)+show.LastGraphemes("", 1))
}
