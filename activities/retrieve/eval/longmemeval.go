package eval

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"axiommind/schema"
)

// Bounds of LongMemEval's files, in bytes: of a line, and of all sessions.
const (
	maxSessionLine = 32 << 20
	maxSessions    = 2 << 30
)

// lmeQuestion is a question with the sessions that it is asked about.
type lmeQuestion struct {
	line     int
	ID       string `json:"question_id"`
	Type     string `json:"question_type"`
	Question string `json:"question"`
	Haystack []struct {
		Session string `json:"session_id"`
		Key     string `json:"key"`
		Date    string `json:"date"`
		Answer  []int  `json:"has_answer_turns"`
	} `json:"haystack"`
}

type lmeTurn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// LongMemEval reads questions and, from a second file, the sessions that they name by key; that one may be compressed with
// gzip. Each question is a project with its own sessions. Abstentions are left out unless asked for.
func LongMemEval(questions io.Reader, questionsName string, sessions io.Reader, sessionsName string, opts ImportOptions) (Dataset, error) {
	asked, err := readLMEQuestions(questions, questionsName)
	if err != nil {
		return Dataset{}, err
	}
	needed := map[string][]lmeTurn{}
	for _, q := range asked {
		for _, h := range q.Haystack {
			needed[h.Key] = nil
		}
	}
	if err := readLMESessions(sessions, sessionsName, needed); err != nil {
		return Dataset{}, err
	}
	var d Dataset
	for _, q := range asked {
		abstain := strings.HasSuffix(q.ID, "_abs")
		if abstain && !opts.Unanswerable {
			continue
		}
		if err := d.addLME(q, abstain, needed); err != nil {
			return Dataset{}, invalid(questionsName, q.line, err)
		}
	}
	if len(d.Questions) == 0 {
		return Dataset{}, invalid(questionsName, 0, errors.New("there is no question in it that can be measured"))
	}
	return d, nil
}

func readLMEQuestions(r io.Reader, name string) ([]lmeQuestion, error) {
	var out []lmeQuestion
	seen := map[string]int{}
	err := readLines(r, name, maxSessionLine, func(line int, data []byte) error {
		q := lmeQuestion{line: line}
		if err := json.Unmarshal(data, &q); err != nil {
			return jsonError(err)
		}
		switch first, twice := seen[q.ID]; {
		case q.ID == "":
			return wrong("question_id", "is empty")
		case twice:
			return wrong("question_id", "%q is that of line %d too", q.ID, first)
		case strings.TrimSpace(q.Question) == "":
			return wrong("question", "is empty")
		case len(q.Haystack) == 0:
			return wrong("haystack", "is empty: want the sessions that the question is asked about")
		case len(out) == MaxQuestions:
			return fmt.Errorf("there are more than %d questions: split the file", MaxQuestions)
		}
		seen[q.ID] = line
		out = append(out, q)
		return nil
	})
	return out, err
}

// readLMESessions fills in the turns of the sessions that are needed.
func readLMESessions(r io.Reader, name string, needed map[string][]lmeTurn) error {
	b := bufio.NewReader(r)
	r = b
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(b)
		if err != nil {
			return invalid(name, 0, fmt.Errorf("can't be decompressed: %w", err))
		}
		defer func() { _ = unzipped.Close() }()
		r = unzipped
	}
	limited := &io.LimitedReader{R: r, N: maxSessions}
	err := readLines(limited, name, maxSessionLine, func(_ int, data []byte) error {
		var s struct {
			Key   string    `json:"key"`
			Turns []lmeTurn `json:"turns"`
		}
		if err := json.Unmarshal(data, &s); err != nil {
			return jsonError(err)
		}
		if _, wanted := needed[s.Key]; wanted {
			needed[s.Key] = s.Turns
		}
		return nil
	})
	if limited.N == 0 {
		return invalid(name, 0, fmt.Errorf("holds more than %d MiB", maxSessions>>20))
	}
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if corrupt || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid(name, 0, fmt.Errorf("breaks off: %w", err))
	}
	return err
}

// addLME adds a question and its sessions. A turn without text is no message.
func (d *Dataset) addLME(q lmeQuestion, abstain bool, sessions map[string][]lmeTurn) error {
	question := Question{ID: q.ID, Query: q.Question, Project: "longmemeval-" + q.ID, Category: q.Type, Language: "en", Abstain: abstain}
	taken := map[string]int{}
	for i, h := range q.Haystack {
		field := fmt.Sprintf("haystack[%d]", i)
		turns := sessions[h.Key]
		if len(turns) == 0 {
			return wrong(field+".key", "%q is of no session in the second file", h.Key)
		}
		at, err := time.Parse("2006/01/02 (Mon) 15:04", h.Date)
		if err != nil {
			return wrong(field+".date", "is %q: want one like \"2006/01/02 (Mon) 15:04\"", h.Date)
		}
		if h.Session == "" {
			return wrong(field+".session_id", "is empty")
		}
		s := Session{Project: question.Project, ID: h.Session}
		// Some haystacks hold a session twice, at different dates.
		if taken[h.Session]++; taken[h.Session] > 1 {
			s.ID = fmt.Sprintf("%s-%d", h.Session, taken[h.Session])
		}
		for n, t := range turns {
			answers := slices.Contains(h.Answer, n)
			if strings.TrimSpace(t.Content) == "" {
				if answers {
					d.leaveOut("question %s: turn %d of session %s has no text", q.ID, n, h.Session)
				}
				continue
			}
			if t.Role != string(schema.RoleUser) && t.Role != string(schema.RoleAssistant) {
				return wrong(field+".key", "names a session with the role %q: want user or assistant", t.Role)
			}
			if answers && !abstain {
				question.Relevant = append(question.Relevant, MessageRef(s.ID, len(s.Messages)))
			}
			s.Messages = append(s.Messages, Message{Role: schema.Role(t.Role), Time: at, Text: t.Content})
		}
		for _, n := range h.Answer {
			if n < 0 || n >= len(turns) {
				return wrong(field+".has_answer_turns", "has %d, and the session has %d turns", n, len(turns))
			}
		}
		d.Sessions = append(d.Sessions, s)
	}
	if len(question.Relevant) == 0 && !abstain {
		d.leaveOut("question %s: no turn is given that answers it", q.ID)
		return nil
	}
	d.Questions = append(d.Questions, question)
	return nil
}
