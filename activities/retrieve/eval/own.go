package eval

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"axiommind/schema"
)

const maxOwn = 256 << 20 // bytes

// ownColumns are the possible columns of a user's own table of questions.
var ownColumns = []string{
	"id", "question", "answer", "entry", "task", "fact", "session", "message",
	"project", "user", "agent", "category", "lang", "as_of", "abstain",
}

// ownRow is a row: the values of each non-empty column. Lists have several.
type ownRow map[string][]string

// ownProject is the project of questions and messages that name none.
const ownProject = "default"

// Own reads a user's own questions. The file is CSV, whose first line names the columns, or JSON lines with the columns
// as fields. A row has a question and its answers:
//
//   - answer: a part of the text that answers, in its own words
//   - or entry, task, fact: ids, or session, alone or with message; several are separated by ";" or are a list
//   - or abstain: true, if there is no answer
//
// An answer together with one id narrows it. The columns id, project, user, agent, category, lang and as_of are as in a
// gold set. The default id is derived from the project and the question.
//
// sessions, if not nil, are the messages that the questions are about: JSON lines with project, session, role, speaker,
// time and text, of which session and text are required. An answer must be in one of them then.
func Own(questions io.Reader, name string, sessions io.Reader, sessionsName string) (Dataset, error) {
	var d Dataset
	if sessions != nil {
		var err error
		if d.Sessions, err = readOwnSessions(sessions, sessionsName); err != nil {
			return Dataset{}, err
		}
	}
	lines := map[string]int{}
	err := readOwnRows(questions, name, func(line int, row ownRow) error {
		q, err := d.ownQuestion(row)
		if err == nil {
			err = q.validate()
		}
		if err != nil {
			return err
		}
		if first, twice := lines[q.ID]; twice {
			return wrong("id", "%q is that of line %d too: give each question its own", q.ID, first)
		}
		if len(d.Questions) == MaxQuestions {
			return fmt.Errorf("there are more than %d questions: split the file", MaxQuestions)
		}
		lines[q.ID] = line
		d.Questions = append(d.Questions, q)
		return nil
	})
	if err == nil && len(d.Questions) == 0 {
		err = invalid(name, 0, errors.New("there is no question in it"))
	}
	if err != nil {
		return Dataset{}, err
	}
	return d, nil
}

// readOwnRows calls fn with each row. A file is CSV if its name ends with .csv or it does not begin with a brace.
func readOwnRows(r io.Reader, name string, fn func(line int, row ownRow) error) error {
	data, err := readAll(r, name, maxOwn)
	if err != nil {
		return err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !strings.EqualFold(filepath.Ext(name), ".csv") && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return readLines(bytes.NewReader(data), name, MaxLine, func(line int, data []byte) error {
			row, err := jsonRow(data)
			if err != nil {
				return err
			}
			return fn(line, row)
		})
	}
	return readCSV(data, name, fn)
}

func jsonRow(data []byte) (ownRow, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return nil, jsonError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON object: put each on a line of its own")
	}
	row := ownRow{}
	for field, value := range fields {
		if !slices.Contains(ownColumns, field) {
			return nil, unknownColumn(field)
		}
		list, is := value.([]any)
		if !is {
			list = []any{value}
		}
		for _, v := range list {
			switch v := v.(type) {
			case nil:
			case string, json.Number, bool:
				if text := strings.TrimSpace(fmt.Sprint(v)); text != "" {
					row[field] = append(row[field], text)
				}
			default:
				return nil, wrong(field, "holds an object or a list in a list: want a text, or a list of texts")
			}
		}
	}
	return row, nil
}

func unknownColumn(name string) error {
	return wrong(name, "is no known column: want some of %s", strings.Join(ownColumns, ", "))
}

// ownLists are the columns that may hold several values.
var ownLists = []string{"entry", "task", "fact", "session", "message"}

func readCSV(data []byte, name string, fn func(line int, row ownRow) error) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.TrimLeadingSpace = true
	header, err := r.Read()
	if err != nil {
		return invalid(name, 1, fmt.Errorf("is not CSV: %w", err))
	}
	for i, column := range header {
		header[i] = strings.ToLower(strings.TrimSpace(column))
		if !slices.Contains(ownColumns, header[i]) {
			return invalid(name, 1, unknownColumn(column))
		}
		if slices.Contains(header[:i], header[i]) {
			return invalid(name, 1, wrong(column, "is there twice: leave one out"))
		}
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return inputError{fmt.Errorf("%s: is not CSV: %w", name, err)}
		}
		line, _ := r.FieldPos(0)
		row := ownRow{}
		for i, value := range record {
			values := []string{value}
			if slices.Contains(ownLists, header[i]) {
				values = strings.Split(value, ";")
			}
			for _, v := range values {
				if v = strings.TrimSpace(v); v != "" {
					row[header[i]] = append(row[header[i]], v)
				}
			}
		}
		if err := fn(line, row); err != nil {
			return invalid(name, line, err)
		}
	}
}

// ownQuestion makes a question of a row.
func (d *Dataset) ownQuestion(row ownRow) (Question, error) {
	for column, values := range row {
		if len(values) > 1 && !slices.Contains(ownLists, column) && column != "answer" {
			return Question{}, wrong(column, "has %d values: want one", len(values))
		}
	}
	one := func(column string) string { return strings.Join(row[column], "") }
	q := Question{
		ID: one("id"), Query: one("question"), Project: one("project"), User: one("user"), Agent: one("agent"),
		Category: one("category"), Language: one("lang"),
	}
	if q.Query == "" {
		return Question{}, wrong("question", "is empty: give the text to search for")
	}
	if q.ID == "" {
		sum := sha256.Sum256([]byte(q.Project + "\x00" + q.User + "\x00" + q.Query))
		q.ID = "q-" + hex.EncodeToString(sum[:6])
	}
	if len(d.Sessions) > 0 {
		q.Project = cmp.Or(q.Project, ownProject)
	}
	var err error
	if q.AsOf, err = parseAsOf(one("as_of")); err != nil {
		return Question{}, fieldError{"as_of", err}
	}
	if abstain := one("abstain"); abstain != "" {
		if q.Abstain, err = strconv.ParseBool(strings.ToLower(abstain)); err != nil {
			return Question{}, wrong("abstain", "is %q: want true or false", abstain)
		}
	}
	if q.Relevant, err = d.ownRefs(row, q.Project); err != nil {
		return Question{}, err
	}
	if len(q.Relevant) == 0 && !q.Abstain {
		return Question{}, wrong("answer", "is empty: give the text that answers, or an entry, task, fact or session, or abstain")
	}
	return q, nil
}

// ownRefs returns the references of the row.
func (d *Dataset) ownRefs(row ownRow, project string) ([]Ref, error) {
	var refs []Ref
	for _, id := range row["entry"] {
		refs = append(refs, Ref{Entry: id})
	}
	for _, id := range row["task"] {
		refs = append(refs, Ref{Task: id})
	}
	for _, id := range row["fact"] {
		refs = append(refs, Ref{Fact: id})
	}
	sessions, messages := row["session"], row["message"]
	if len(messages) > 0 && len(sessions) != 1 && len(sessions) != len(messages) {
		return nil, wrong("message", "has %d values and session has %d: give one session, or one for each", len(messages), len(sessions))
	}
	for i := range max(len(sessions), len(messages)) {
		r := Ref{Session: sessions[min(i, len(sessions)-1)]}
		if len(messages) > 0 {
			n, err := strconv.Atoi(messages[i])
			if err != nil || n < 0 {
				return nil, wrong("message", "is %q: want a number from 0", messages[i])
			}
			r.Message = &n
		}
		if err := d.hasMessage(project, r); err != nil {
			return nil, err
		}
		refs = append(refs, r)
	}
	switch answers := row["answer"]; {
	case len(answers) == 0:
	case len(refs) == 0:
		for _, answer := range answers {
			r, err := d.answerRef(project, answer)
			if err != nil {
				return nil, err
			}
			refs = append(refs, r)
		}
	case len(refs) == 1 && len(answers) == 1:
		refs[0].Text = answers[0]
	default:
		return nil, wrong("answer", "does not say which of %d ids it belongs to: leave it or the ids out", len(refs))
	}
	return refs, nil
}

// hasMessage returns an error if there are sessions and the reference is to none of their messages.
func (d *Dataset) hasMessage(project string, r Ref) error {
	if len(d.Sessions) == 0 {
		return nil
	}
	for _, s := range d.Sessions {
		if s.Project != project || s.ID != r.Session {
			continue
		}
		if r.Message != nil && *r.Message >= len(s.Messages) {
			return wrong("message", "is %d, and session %q has %d: count from 0", *r.Message, s.ID, len(s.Messages))
		}
		return nil
	}
	return wrong("session", "%q is none of project %q", r.Session, project)
}

// answerRef returns a reference to the message with the text, or to the text if it is in several.
func (d *Dataset) answerRef(project, answer string) (Ref, error) {
	if len(d.Sessions) == 0 {
		return Ref{Text: answer}, nil
	}
	var in []Ref
	for _, s := range d.Sessions {
		if s.Project != project {
			continue
		}
		for i, m := range s.Messages {
			if strings.Contains(normal(m.Text), normal(answer)) {
				in = append(in, MessageRef(s.ID, i))
			}
		}
	}
	switch len(in) {
	case 0:
		return Ref{}, wrong("answer", "%q is in no message of project %q: copy it from there", answer, project)
	case 1:
		in[0].Text = answer
		return in[0], nil
	}
	return Ref{Text: answer}, nil
}

// readOwnSessions reads messages, in the order of their sessions.
func readOwnSessions(r io.Reader, name string) ([]Session, error) {
	var out []Session
	places := map[[2]string]int{}
	err := readLines(io.LimitReader(r, maxSessions), name, maxSessionLine, func(_ int, data []byte) error {
		var m struct {
			Project string      `json:"project"`
			Session string      `json:"session"`
			Role    schema.Role `json:"role"`
			Speaker string      `json:"speaker"`
			Time    string      `json:"time"`
			Text    string      `json:"text"`
		}
		if err := decodeStrict(data, &m); err != nil {
			return err
		}
		m.Project, m.Role = cmp.Or(m.Project, ownProject), cmp.Or(m.Role, schema.RoleUser)
		at, err := parseMessageTime(m.Time)
		switch {
		case err != nil:
			return fieldError{"time", err}
		case strings.TrimSpace(m.Session) == "":
			return wrong("session", "is empty: give the id of the session")
		case strings.TrimSpace(m.Text) == "":
			return wrong("text", "is empty: leave the message out")
		case m.Role != schema.RoleUser && m.Role != schema.RoleAssistant:
			return wrong("role", "is %q: want user or assistant", m.Role)
		}
		key := [2]string{m.Project, m.Session}
		index, there := places[key]
		if !there {
			index = len(out)
			places[key] = index
			out = append(out, Session{Project: m.Project, ID: m.Session})
		}
		out[index].Messages = append(out[index].Messages, Message{Role: m.Role, Speaker: m.Speaker, Time: at, Text: m.Text})
		return nil
	})
	if err == nil && len(out) == 0 {
		err = invalid(name, 0, errors.New("there is no message in it"))
	}
	return out, err
}

func parseMessageTime(value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, value); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("is %q: want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z", value)
}
