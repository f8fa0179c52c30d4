package worth

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

var train = flag.Bool("train", false, "learn the weights from the labels, and write weights.bin")

// data is where the labeled sessions are that the repository does not hold.
const data = "../../../../shared/data/"

// label is an item that a reader found worth remembering: spans of messages, in bytes.
type label struct {
	Spans      [][3]int `json:"spans"`
	Type       string   `json:"type"`
	State      string   `json:"state"`
	Importance int      `json:"importance"`
}

func (l label) kind() int {
	return slices.IndexFunc(kinds[:], func(k kind) bool { return k.label == l.Type && (k.state == "" || k.state == l.State) })
}

// labeled is a session with the labels of a reader.
type labeled struct {
	Source  string  `json:"source"`
	Session string  `json:"session"`
	Items   []label `json:"items"`
	window  []schema.Message
}

// chat reports whether people talk in the session, and no agent works.
func (l labeled) chat() bool {
	return l.Source == "longmemeval" || l.Source == "locomo" || strings.Contains(l.Session, "-c")
}

// turn is a message of the files.
type turn struct{ Role, Content string }

func windowOf(turns []turn) []schema.Message {
	out := make([]schema.Message, len(turns))
	for i, t := range turns {
		out[i] = schema.Message{Index: i, Role: schema.Role(t.Role), Kind: schema.KindText, Text: t.Content}
	}
	return out
}

// shared skips the test where the shared data is absent.
func shared(tb testing.TB) {
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) {
		tb.Skip("no ../shared/data: the labeled sessions are not here")
	}
}

// read reads a JSON file.
func read[T any](tb testing.TB, path string) (out T) {
	raw, err := os.ReadFile(path)
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(raw, &out), path)
	return out
}

// lines reads a file of a JSON object a line.
func lines[T any](tb testing.TB, raw []byte) (out []T) {
	scanner := bufio.NewScanner(bytes.NewReader(raw))
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var one T
		require.NoError(tb, json.Unmarshal(scanner.Bytes(), &one))
		out = append(out, one)
	}
	require.NoError(tb, scanner.Err())
	return out
}

// grammar is the source of labels that no reader gave, but a grammar of English for clauses in the first person. Its labels were right as
// often as readers agree, and it missed half: the weight of a sentence without a label is less, and its types are not learned.
const grammar = "grammar"

// unlabeled is the weight of a sentence that the grammar did not label, where a reader's is 1.
const unlabeled = 0.25

// training returns the sessions that the weights are learned from.
func training(tb testing.TB) []labeled {
	shared(tb)
	var out []labeled
	for _, name := range []string{"agentwork", "chats", grammar} {
		raw, err := os.ReadFile("labels/" + name + ".jsonl")
		require.NoError(tb, err)
		out = append(out, lines[labeled](tb, raw)...)
	}
	chats, locomo := chatsOf(tb), locomoOf(tb)
	for i := range out {
		s := &out[i]
		switch s.Source {
		case "agentwork":
			s.window = windowOf(read[[]turn](tb, data+"agentwork/sessions/"+s.Session+".json"))
		case "longmemeval", grammar:
			s.window = windowOf(chats[s.Session])
		default:
			s.window = windowOf(locomo[s.Session])
		}
		require.NotEmpty(tb, s.window, s.Session)
	}
	return append(out, own(tb)...)
}

// own returns the sessions in nine languages that the repository holds.
func own(tb testing.TB) []labeled {
	files, err := filepath.Glob("labels/own/*.json")
	require.NoError(tb, err)
	var out []labeled
	for _, f := range files {
		type item struct {
			label
			Message int
			Quote   string
			More    []struct {
				Message int
				Quote   string
			}
		}
		s := read[struct {
			Session  string
			Messages []turn
			Items    []item
		}](tb, f)
		l := labeled{Source: "own", Session: s.Session, window: windowOf(s.Messages)}
		for _, it := range s.Items {
			at := strings.Index(s.Messages[it.Message].Content, it.Quote)
			require.GreaterOrEqual(tb, at, 0, f)
			it.Spans = [][3]int{{it.Message, at, at + len(it.Quote)}}
			for _, more := range it.More {
				at := strings.Index(s.Messages[more.Message].Content, more.Quote)
				require.GreaterOrEqual(tb, at, 0, f)
				it.Spans = append(it.Spans, [3]int{more.Message, at, at + len(more.Quote)})
			}
			l.Items = append(l.Items, it.label)
		}
		out = append(out, l)
	}
	return out
}

func chatsOf(tb testing.TB) map[string][]turn {
	f, err := os.Open(data + "longmemeval/sessions-dev.jsonl.gz")
	require.NoError(tb, err)
	defer func() { _ = f.Close() }()
	zipped, err := gzip.NewReader(f)
	require.NoError(tb, err)
	var raw bytes.Buffer
	_, err = raw.ReadFrom(zipped)
	require.NoError(tb, err)
	out := map[string][]turn{}
	for _, s := range lines[struct {
		Key   string
		Turns []turn
	}](tb, raw.Bytes()) {
		out[s.Key] = s.Turns
	}
	return out
}

func locomoOf(tb testing.TB) map[string][]turn {
	out := map[string][]turn{}
	for n, c := range read[[]struct{ Conversation map[string]json.RawMessage }](tb, data+"locomo/locomo-dev.json") {
		for name, raw := range c.Conversation {
			k, ok := strings.CutPrefix(name, "session_")
			var turns []struct{ Speaker, Text string }
			if !ok || strings.Contains(k, "_") || json.Unmarshal(raw, &turns) != nil {
				continue
			}
			key := fmt.Sprintf("%d-%s", n, k)
			for _, t := range turns {
				out[key] = append(out[key], turn{"user", t.Speaker + ": " + t.Text})
			}
		}
	}
	return out
}

// gold returns the sessions that no weight was learned from.
func gold(tb testing.TB) []labeled {
	shared(tb)
	files, err := filepath.Glob(data + "agentwork/gold/*.json")
	require.NoError(tb, err)
	require.NotEmpty(tb, files)
	var out []labeled
	for _, f := range files {
		turns := read[[]turn](tb, data+"agentwork/sessions/"+filepath.Base(f))
		type place struct {
			Message int
			Quote   string
		}
		g := read[struct {
			Items []struct {
				label
				place
				More []place
			}
		}](tb, f)
		s := labeled{Source: "gold", Session: filepath.Base(f), window: windowOf(turns)}
		for _, it := range g.Items {
			for _, p := range append([]place{it.place}, it.More...) {
				if at := strings.Index(turns[p.Message].Content, p.Quote); at >= 0 {
					it.Spans = append(it.Spans, [3]int{p.Message, at, at + len(p.Quote)})
				}
			}
			s.Items = append(s.Items, it.label)
		}
		out = append(out, s)
	}
	return out
}

// covers reports whether half of one of two spans lies in the other.
func covers(a, b [3]int) bool {
	common := min(a[2], b[2]) - max(a[1], b[1])
	return a[0] == b[0] && common > 0 && (2*common >= a[2]-a[1] || 2*common >= b[2]-b[1])
}

func overlaps(a, b [][3]int) bool {
	return slices.ContainsFunc(a, func(x [3]int) bool {
		return slices.ContainsFunc(b, func(y [3]int) bool { return covers(x, y) })
	})
}

// example is a sentence with its label.
type example struct {
	v []feature
	// class is 1 for yes, or the kind.
	class  int
	weight float64
}

// examples returns those of each head.
func examples(sessions []labeled) (worth, types []example) {
	for _, s := range sessions {
		all := split(s.window, false)
		item := make([]int, len(all))
		for i := range all {
			item[i] = -1
			at := [3]int{all[i].m.Index, all[i].Start, all[i].End}
			for n, l := range s.Items {
				for _, span := range l.Spans {
					common := min(at[2], span[2]) - max(at[1], span[1])
					if at[0] == span[0] && 2*common >= at[2]-at[1] && (item[i] < 0 || l.Importance > s.Items[item[i]].Importance) {
						item[i] = n
					}
				}
			}
		}
		for i := range all {
			v := features(all, i)
			e := example{v: v, weight: 1}
			if s.Source == grammar {
				if all[i].m.Role != schema.RoleUser {
					continue
				}
				e.weight = unlabeled
			}
			if item[i] >= 0 {
				l := s.Items[item[i]]
				e.class, e.weight = 1, [...]float64{1: 0.6, 2: 1, 3: 2}[l.Importance]
				if k := l.kind(); k >= 0 && s.Source != grammar {
					// In chats nearly all are facts, which says nothing of a session of work.
					weight := 1.0
					if s.chat() {
						weight = 0.3
					}
					types = append(types, example{v, k, weight})
				}
			}
			worth = append(worth, e)
		}
	}
	return worth, types
}

// fit returns the weights of logistic regression for each class but 0 if there are two, with a penalty of half the
// square of the weights. It descends along the whole gradient, with Adam's steps, so that it always returns the same.
func fit(of []example, classes int, penalty float64) [][]float64 {
	const rounds, rate = 250, 0.08
	rows := max(classes, 1)
	w, m, v := table(rows), table(rows), table(rows)
	g := table(rows)
	for round := 1; round <= rounds; round++ {
		for r := range g {
			for i := range g[r] {
				g[r][i] = penalty * w[r][i]
			}
		}
		logits := make([]float64, rows)
		for _, e := range of {
			for r := range w {
				logits[r] = 0
				for _, f := range e.v {
					logits[r] += w[r][f.at] * float64(f.value)
				}
			}
			wrong(logits, e.class)
			for r, d := range logits {
				if d *= e.weight; d != 0 {
					for _, f := range e.v {
						g[r][f.at] += d * float64(f.value)
					}
				}
			}
		}
		step := rate * math.Sqrt(1-math.Pow(0.999, float64(round))) / (1 - math.Pow(0.9, float64(round))) * (1 - float64(round)/(rounds+1))
		for r := range w {
			for i, d := range g[r] {
				m[r][i] += 0.1 * (d - m[r][i])
				v[r][i] += 0.001 * (d*d - v[r][i])
				w[r][i] -= step * m[r][i] / (math.Sqrt(v[r][i]) + 1e-8)
			}
		}
	}
	return w
}

func table(rows int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, dimensions)
	}
	return out
}

// wrong turns logits into the differences of the probabilities from the class.
func wrong(logits []float64, class int) {
	if len(logits) == 1 {
		logits[0] = probability(logits[0]) - float64(class)
		return
	}
	most, sum := slices.Max(logits), 0.0
	for i := range logits {
		logits[i] = math.Exp(logits[i] - most)
		sum += logits[i]
	}
	for i := range logits {
		logits[i] /= sum
	}
	logits[class]--
}

// learn returns the weights of all heads.
func learn(sessions []labeled) []byte {
	worth, types := examples(sessions)
	var all [heads][]float64
	all[headWorth] = fit(worth, 1, 1)[0]
	for n, w := range fit(types, len(kinds), 1) {
		all[headTypes+n] = w
	}
	return encode(all)
}

// TestTrain learns the weights from the labels, with the flag -train, and writes weights.bin.
func TestTrain(t *testing.T) {
	if !*train {
		t.Skip("weights are learned with the flag -train only")
	}
	require.NoError(t, os.WriteFile("weights.bin", learn(training(t)), 0o600))
}
