package evidence_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/activities/evidence/normal"
	"axiommind/activities/llm/worth"
	"axiommind/activities/text"
	"axiommind/activities/transcript"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// conversation is a conversation of a shared corpus: its sessions of messages, and texts that others wrote about
// it.
type conversation struct {
	name        string
	sessions    [][]string
	paraphrases [][]string // by session
	questions   []string
}

// locomo reads the conversations of LoCoMo with their observations, summaries and questions.
func locomo(tb testing.TB) []conversation {
	tb.Helper()
	raw, err := os.ReadFile(sharedtest.Data.Path(tb, "locomo", "locomo-dev.json"))
	require.NoError(tb, err)
	var samples []struct {
		ID           string                                `json:"sample_id"`
		Conversation map[string]json.RawMessage            `json:"conversation"`
		Observation  map[string]map[string]json.RawMessage `json:"observation"`
		Summary      map[string]string                     `json:"session_summary"`
		QA           []struct{ Question string }           `json:"qa"`
	}
	require.NoError(tb, json.Unmarshal(raw, &samples))
	var all []conversation
	for _, s := range samples {
		c := conversation{name: s.ID}
		for i := 1; ; i++ {
			session := fmt.Sprintf("session_%d", i)
			var turns []struct{ Text string }
			if json.Unmarshal(s.Conversation[session], &turns) != nil {
				break
			}
			if i%sharedtest.Share() > 0 {
				continue
			}
			var texts, paraphrases []string
			for _, turn := range turns {
				texts = append(texts, turn.Text)
			}
			for _, speaker := range slices.Sorted(maps.Keys(s.Observation[session+"_observation"])) {
				var said [][]any
				require.NoError(tb, json.Unmarshal(s.Observation[session+"_observation"][speaker], &said))
				for _, what := range said {
					paraphrases = append(paraphrases, fmt.Sprint(what[0]))
				}
			}
			paraphrases = append(paraphrases, sentences(s.Summary[session+"_summary"])...)
			c.sessions, c.paraphrases = append(c.sessions, texts), append(c.paraphrases, paraphrases)
		}
		for _, qa := range s.QA {
			c.questions = append(c.questions, qa.Question)
		}
		all = append(all, c)
	}
	return all
}

// longmemeval reads sessions of LongMemEval, each a conversation.
func longmemeval(tb testing.TB, most int) []conversation {
	tb.Helper()
	file, err := os.Open(sharedtest.Data.Path(tb, "longmemeval", "sessions-dev.jsonl.gz"))
	require.NoError(tb, err)
	defer func() { _ = file.Close() }()
	plain, err := gzip.NewReader(file)
	require.NoError(tb, err)
	scan := bufio.NewScanner(plain)
	scan.Buffer(nil, 16<<20)
	var all []conversation
	for len(all) < most/sharedtest.Share() && scan.Scan() {
		var session struct {
			Key   string
			Turns []struct{ Content string }
		}
		require.NoError(tb, json.Unmarshal(scan.Bytes(), &session))
		var texts []string
		for _, turn := range session.Turns {
			texts = append(texts, turn.Content)
		}
		all = append(all, conversation{name: session.Key, sessions: [][]string{texts}})
	}
	require.NoError(tb, scan.Err())
	return all
}

// sentences splits a text by UAX #29 and leaves out sentences that are too short to look for.
func sentences(text string) []string {
	var all []string
	for state := -1; text != ""; {
		var sentence string
		sentence, text, state = uniseg.FirstSentenceInString(text, state)
		if sentence = strings.TrimSpace(sentence); letters(sentence) >= schema.MinLetters {
			all = append(all, sentence)
		}
	}
	return all
}

func messagesOf(texts []string) []schema.Message {
	messages := make([]schema.Message, len(texts))
	for i, text := range texts {
		messages[i] = schema.Message{Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: text}
	}
	return messages
}

// TestSentencesOfConversationsProve: proof costs nothing to those who quote whole sentences.
func TestSentencesOfConversationsProve(t *testing.T) {
	t.Parallel()
	outcomes := make([]outcome, len(harmless))
	for _, c := range locomo(t) {
		for _, session := range c.sessions {
			for _, text := range session {
				a := evidence.NewAligner(message(text), nil)
				for _, sentence := range sentences(text) {
					for i, change := range harmless {
						e := a.Align(schema.Quote{Quote: change(sentence)})
						outcomes[i].add(e)
						if !e.Proven {
							t.Errorf("%q of %q: %+v", change(sentence), text, e)
						}
					}
				}
			}
		}
	}
	for i := range outcomes {
		t.Logf("whole sentences, change %d: %s", i, &outcomes[i])
	}
	require.Greater(t, outcomes[0].quotes, 5000/sharedtest.Share())
}

// TestRandomCutsOfConversationsProveNothing: of quotes cut at random words only those prove that happen to begin
// and end where sentences do.
func TestRandomCutsOfConversationsProveNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 29))
	var cuts, whole outcome
	for _, c := range append(locomo(t), longmemeval(t, 100)...) {
		for _, session := range c.sessions {
			for _, message := range session {
				words := wordSpans(message)
				if len(words) < 4 {
					continue
				}
				a := evidence.NewAligner([]schema.Message{{Text: message}}, nil)
				for range 3 {
					i := rng.IntN(len(words))
					j := i + rng.IntN(min(20, len(words)-i))
					start, end := words[i][0], words[j][1]
					quote := message[start:end]
					if letters(quote) < schema.MinLetters {
						continue
					}
					e := a.Align(schema.Quote{Quote: quote})
					require.True(t, e.Aligned, "%q", quote)
					boundaries := text.NewBoundaries(message)
					if everyPlace(message, quote, func(start, end int) bool { return !boundaries.Begins(start) || !endsNear(message, boundaries, end) }) {
						cuts.add(e)
						if e.Proven {
							t.Errorf("%q of %q", quote, message)
						}
						continue
					}
					whole.add(e)
				}
			}
		}
	}
	t.Logf("cut inside a sentence:             %s", &cuts)
	t.Logf("cut where sentences begin and end: %s", &whole)
	require.Greater(t, cuts.quotes, 5000/sharedtest.Share())
}

// TestQuotesOfTheExtractorProve: all quotes of the offline extractor from real sessions prove.
func TestQuotesOfTheExtractorProve(t *testing.T) {
	t.Parallel()
	windows := map[string][][]schema.Message{"LoCoMo": nil}
	for _, c := range locomo(t) {
		for _, session := range c.sessions {
			windows["LoCoMo"] = append(windows["LoCoMo"], messagesOf(session))
		}
	}
	for _, c := range longmemeval(t, 300) {
		windows["LongMemEval"] = append(windows["LongMemEval"], messagesOf(c.sessions[0]))
	}
	root := sharedtest.Data.Path(t, "transcripts")
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		uri, err := transcript.FileURI(path)
		require.NoError(t, err)
		sessions, _, err := transcript.ReadSource(t.Context(), uri, "")
		if err != nil {
			return nil //nolint:nilerr // licences and such are no transcripts
		}
		for _, s := range sessions {
			windows["transcripts"] = append(windows["transcripts"], s.Messages)
		}
		return nil
	}))
	for name, sessions := range windows {
		var o outcome
		for _, session := range sessions {
			a := evidence.NewAligner(session, nil)
			for _, entry := range worth.Extract(session, slices.ContainsFunc(session, ofTool)).Entries {
				for _, quote := range entry.Evidence {
					e := a.Align(quote)
					o.add(e)
					if !e.Proven {
						t.Errorf("%s: %q within %+v", name, quote.Quote, e.Within)
					}
				}
			}
		}
		t.Logf("%-12s %4d sessions: %s", name, len(sessions), &o)
		require.Greater(t, o.quotes, 10, name)
	}
}

// wordSpans returns where the words of a text, which spaces separate, begin and end.
func wordSpans(text string) (spans [][2]int) {
	at := 0
	for word := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], word)
		spans = append(spans, [2]int{at, at + len(word)})
		at += len(word)
	}
	return spans
}

// endsNear reports whether a sentence ends at a byte, or behind one more mark: a full stop that the quote lacks, or
// emphasis.
func endsNear(message string, boundaries *text.Boundaries, end int) bool {
	for range 4 {
		if boundaries.Ends(end) {
			return true
		}
		if end == len(message) || !strings.ContainsRune(".*_~", rune(message[end])) {
			return false
		}
		end++
	}
	return false
}

// everyPlace reports whether a condition is true wherever a text contains a quote, ignoring case.
func everyPlace(text, quote string, holds func(start, end int) bool) bool {
	text, quote = strings.ToLower(text), strings.ToLower(quote)
	for at := 0; ; {
		i := strings.Index(text[at:], quote)
		if i < 0 {
			return true
		}
		if !holds(at+i, at+i+len(quote)) {
			return false
		}
		at += i + 1
	}
}

// TestAbsentQuotesAreNotFound: quotes of other conversations, and texts that others wrote about this one, are not
// found unless they are as similar to it as an approximate match has to be.
func TestAbsentQuotesAreNotFound(t *testing.T) {
	t.Parallel()
	kinds := map[string]*absence{}
	of := func(kind string) *absence {
		if kinds[kind] == nil {
			kinds[kind] = &absence{}
		}
		return kinds[kind]
	}
	conversations := locomo(t)
	rng := rand.New(rand.NewPCG(5, 8))
	for i, c := range conversations {
		other := conversations[(i+1)%len(conversations)]
		for j, session := range c.sessions {
			a := evidence.NewAligner(messagesOf(session), nil)
			for _, quote := range c.paraphrases[j] {
				of("paraphrases, LoCoMo").add(t, a, session, quote)
			}
			for _, k := range rng.Perm(len(c.questions))[:min(5, len(c.questions))] {
				of("questions about it, LoCoMo").add(t, a, session, c.questions[k])
			}
			foreign := sentences(strings.Join(other.sessions[rng.IntN(len(other.sessions))], " "))
			for _, k := range rng.Perm(len(foreign))[:min(30, len(foreign))] {
				of("other conversations, LoCoMo").add(t, a, session, foreign[k])
			}
			own := sentences(strings.Join(session, " "))
			for _, k := range rng.Perm(len(own))[:min(10, len(own))] {
				words := strings.Fields(own[k])
				rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
				of("its own words shuffled, LoCoMo").add(t, a, session, strings.Join(words, " "))
			}
		}
	}
	sessions := longmemeval(t, 120)
	for i, c := range sessions {
		a := evidence.NewAligner(messagesOf(c.sessions[0]), nil)
		foreign := sentences(strings.Join(sessions[(i+7)%len(sessions)].sessions[0], "\n"))
		for _, k := range rng.Perm(len(foreign))[:min(20, len(foreign))] {
			of("other sessions, LongMemEval").add(t, a, c.sessions[0], foreign[k])
		}
	}
	absent := 0
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[kind]
		t.Logf("%-32s %5d absent quotes: found %d; %d that stand there after all: %s", kind, k.absent, k.falsely, k.present.quotes, &k.present)
		absent += k.absent
	}
	require.Greater(t, absent, 5000/sharedtest.Share())
}

// absence counts quotes that were not said, and those of them that are in a text after all.
type absence struct {
	absent, falsely int
	present         outcome
}

func (k *absence) add(t *testing.T, a *evidence.Aligner, texts []string, quote string) {
	if letters(quote) < schema.MinLetters {
		return
	}
	e := a.Align(schema.Quote{Quote: quote})
	if !e.Found && e.Reason != schema.ReasonAmbiguous {
		k.absent++
		return
	}
	if standsIn(texts, quote) {
		k.present.add(e)
		return
	}
	k.absent, k.falsely = k.absent+1, k.falsely+1
	t.Errorf("found by method %q\n  quote  %q\n  source %q", e.Method, quote, e.Text)
}

// standsIn reports whether one of the texts contains a quote, or may contain a passage as similar as an approximate
// match: in normal form, or in its letters and digits alone.
func standsIn(texts []string, quote string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		_, most := likeness(text, quote)
		return most >= evidence.MinSimilarity || strings.Contains(plain(text), plain(quote))
	})
}

// likeness returns the similarity between a quote in normal form and the nearest stretch of a text, by the plain
// recurrence: at least and at most, because the length of the stretch is unknown.
func likeness(text, quote string) (least, most float64) {
	form := []rune(strings.TrimSpace(normal.Form1(quote)))
	n, edits := float64(len(form)), float64(leastEdits(form, []rune(normal.Form1(text))))
	return 1 - edits/n, 1 - edits/(n+edits)
}

// leastEdits is the edit distance of a text to the nearest stretch of another.
func leastEdits(a, b []rune) int {
	row := make([]int, len(a)+1)
	for i := range row {
		row[i] = i
	}
	least := row[len(a)]
	for _, r := range b {
		diagonal := row[0]
		for i := range a {
			substituted := diagonal
			if a[i] != r {
				substituted++
			}
			diagonal = row[i+1]
			row[i+1] = min(substituted, diagonal+1, row[i]+1)
		}
		least = min(least, row[len(a)])
	}
	return least
}

func ofTool(m schema.Message) bool {
	return m.Role == schema.RoleTool || m.Kind == schema.KindToolCall || m.Kind == schema.KindToolResult
}
