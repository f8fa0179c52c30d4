package worth

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

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

// graded is a line that readers have graded: each gave 3 (must), 2 (should), 1 (worth it if there is room), 0 (not worth it), or r, if it
// restates a line that is worth it.
type graded struct {
	At     [3]int `json:"at"`
	Grades string `json:"grades"`
	label
}

// labeled is a session with the labels of a reader, and the grades of others.
type labeled struct {
	Source  string   `json:"source"`
	Session string   `json:"session"`
	Items   []label  `json:"items"`
	Lines   []graded `json:"lines"`
	window  []schema.Message
}

// chat reports whether people talk in the session, and no agent works.
func (s *labeled) chat() bool {
	return s.Source == "longmemeval" || s.Source == "locomo" || s.Source == "own" && strings.Contains(s.Session, "-c")
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
	grades := readGrades(tb, "grades")
	chats, locomo := chatsOf(tb), locomoOf(tb)
	for i := range out {
		s := &out[i]
		switch s.Source {
		case "agentwork":
			s.window = windowOf(read[[]turn](tb, data+"agentwork/sessions/"+s.Session+".json"))
			s.Lines = grades[s.Session]
			require.NotEmpty(tb, s.Lines, s.Session)
		case "longmemeval", grammar:
			s.window = windowOf(chats[s.Session])
		default:
			s.window = windowOf(locomo[s.Session])
		}
		require.NotEmpty(tb, s.window, s.Session)
	}
	return append(out, own(tb)...)
}

// readGrades returns the graded lines by session.
func readGrades(tb testing.TB, name string) map[string][]graded {
	raw, err := os.ReadFile("labels/" + name + ".jsonl")
	require.NoError(tb, err)
	out := map[string][]graded{}
	for _, s := range lines[labeled](tb, raw) {
		for _, g := range s.Lines {
			require.Regexp(tb, "^[0123r]{1,2}$", g.Grades, "%s %v", s.Session, g.At)
		}
		out[s.Session] = s.Lines
	}
	return out
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
	grades := readGrades(tb, "gold")
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
		s := labeled{Source: "gold", Session: filepath.Base(f), Lines: grades[strings.TrimSuffix(filepath.Base(f), ".json")], window: windowOf(turns)}
		require.NotEmpty(tb, s.Lines, f)
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

// itemOf returns the most important item that a line is of, or nil.
func (s *labeled) itemOf(l *line) *label {
	var out *label
	for n := range s.Items {
		for _, span := range s.Items[n].Spans {
			for _, p := range l.parts {
				common := min(p.End, span[2]) - max(p.Start, span[1])
				if l.m.Index == span[0] && 2*common >= p.End-p.Start && (out == nil || s.Items[n].Importance > out.Importance) {
					out = &s.Items[n]
				}
			}
		}
	}
	return out
}

// gradesAt returns the grades of a line, or nil.
func (s *labeled) gradesAt(l *line) *graded {
	at := slices.IndexFunc(s.Lines, func(g graded) bool {
		common := min(l.End, g.At[2]) - max(l.Start, g.At[1])
		return l.m.Index == g.At[0] && common > 0 && 2*common >= l.End-l.Start
	})
	if at < 0 {
		return nil
	}
	return &s.Lines[at]
}

var (
	importances = [...]float64{1: 0.6, 2: 1, 3: 2}
	// ofGrade is the weight of each of two readers. A reader alone has the weight of both.
	ofGrade = map[rune]float64{'1': 0.35, '2': 0.6, '3': 1, 'r': 0.15, '0': 0.65}
)

// opinionOf returns the share of readers who would keep a line, and the weight of their opinion.
func (s *labeled) opinionOf(l *line) (yes, weight float64) {
	keep, leave := 0.0, 0.0
	item, grades := s.itemOf(l), s.gradesAt(l)
	if item != nil {
		keep = importances[item.Importance]
	} else if grades == nil {
		leave = 1
	}
	if grades != nil {
		for _, grade := range grades.Grades {
			if of := 2 * ofGrade[grade] / float64(len(grades.Grades)); strings.ContainsRune("123", grade) {
				keep += of
			} else {
				leave += of
			}
		}
	}
	return keep / (keep + leave), keep + leave
}

// kindAt returns the kind that a reader gave to a line, or -1.
func (s *labeled) kindAt(l *line) int {
	if it := s.itemOf(l); it != nil && s.Source != grammar {
		return it.kind()
	}
	if g := s.gradesAt(l); g != nil && g.Type != "" {
		return g.kind()
	}
	return -1
}
