package eval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"axiommind/activities/text"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// Dataset is the output of an importer: sessions to remember, and questions about them.
type Dataset struct {
	Sessions  []Session
	Questions []Question
	// LeftOut names unusable parts, each with the cause. The rest is complete.
	LeftOut []string
}

// Session is a conversation. Its id is unique in its project.
type Session struct {
	Project, ID string
	Messages    []Message
}

// Message is a turn of a session.
type Message struct {
	// Role is user or assistant.
	Role    schema.Role
	Speaker string
	// Time is zero if it is not known.
	Time time.Time
	Text string
}

// ImportOptions configures an importer.
type ImportOptions struct {
	// Unanswerable includes the questions that the conversation does not answer: category 5 of LoCoMo, with the turns
	// that mislead, and the abstentions of LongMemEval.
	Unanswerable bool
}

func (d *Dataset) leaveOut(reason string, args ...any) {
	d.LeftOut = append(d.LeftOut, fmt.Sprintf(reason, args...))
}

// Written names the files that [Dataset.Write] made.
type Written struct {
	GoldSet     string           `json:"goldset"`
	Transcripts []TranscriptFile `json:"transcripts"`
	LeftOut     []string         `json:"left_out"`
	Sessions    int              `json:"sessions"`
	Messages    int              `json:"messages"`
	Questions   int              `json:"questions"`
}

// TranscriptFile is a file with all sessions of a project.
type TranscriptFile struct {
	Project string `json:"project"`
	Path    string `json:"path"`
}

// Names of the files that Write makes in its directory.
const (
	goldSetFile    = "goldset.jsonl"
	transcriptsDir = "transcripts"
)

// ErrExists is wrapped by the error about a directory that holds a gold set already.
var ErrExists = errors.New("exists already")

// Write writes goldset.jsonl and transcripts/PROJECT.jsonl into a directory, and makes it where there is none. It reads
// each transcript back as the product will. There a message may become several, because injected passages become
// messages of their own, so that the references get the product's indexes.
func (d Dataset) Write(dir string) (Written, error) {
	w := Written{GoldSet: filepath.Join(dir, goldSetFile), Transcripts: []TranscriptFile{}, LeftOut: d.LeftOut}
	for _, path := range []string{w.GoldSet, filepath.Join(dir, transcriptsDir)} {
		if _, err := os.Lstat(path); err == nil {
			return Written{}, fmt.Errorf("%s %w: give another directory", path, ErrExists)
		}
	}
	files, settled, err := d.encode()
	if err != nil {
		return Written{}, err
	}
	if err := os.MkdirAll(filepath.Join(dir, transcriptsDir), 0o750); err != nil {
		return Written{}, fmt.Errorf("make directory: %w", err)
	}
	for _, f := range files {
		path := filepath.Join(dir, transcriptsDir, f.project+".jsonl")
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			return Written{}, fmt.Errorf("write transcript: %w", err)
		}
		w.Transcripts = append(w.Transcripts, TranscriptFile{f.project, path})
	}
	// The gold set is written last: where it is, all of it is.
	var gold bytes.Buffer
	if err := WriteGoldSet(&gold, settled.Questions); err != nil {
		return Written{}, err
	}
	if err := os.WriteFile(w.GoldSet, gold.Bytes(), 0o600); err != nil {
		return Written{}, fmt.Errorf("write gold set: %w", err)
	}
	w.Sessions, w.Questions = len(d.Sessions), len(settled.Questions)
	for _, s := range d.Sessions {
		w.Messages += len(s.Messages)
	}
	w.LeftOut = settled.LeftOut
	return w, nil
}

// transcriptData are the sessions of a project in the format "messages".
type transcriptData struct {
	project string
	data    []byte
}

// messageRef is a message of a project's session.
type messageRef struct {
	project, session string
	message          int
}

// encode makes the transcripts, and returns the data set with references to the messages as read back from them.
func (d Dataset) encode() ([]transcriptData, Dataset, error) {
	byProject := map[string][]Session{}
	for _, s := range d.Sessions {
		byProject[s.Project] = append(byProject[s.Project], s)
	}
	var files []transcriptData
	places := map[messageRef]int{}
	folded := map[string]string{}
	for project, sessions := range byProject {
		if err := checkFileName(project); err != nil {
			return nil, Dataset{}, err
		}
		// Some file systems ignore case.
		if other, taken := folded[strings.ToLower(project)]; taken {
			return nil, Dataset{}, inputError{fmt.Errorf("projects %q and %q differ in case alone: rename one", project, other)}
		}
		folded[strings.ToLower(project)] = project
		data, err := encodeSessions(sessions)
		if err != nil {
			return nil, Dataset{}, err
		}
		if err := settle(project, sessions, data, places); err != nil {
			return nil, Dataset{}, err
		}
		files = append(files, transcriptData{project, data})
	}
	slices.SortFunc(files, func(a, b transcriptData) int { return cmp.Compare(a.project, b.project) })
	return files, d.renumbered(places), nil
}

// checkFileName refuses projects that can't name a file in every system.
func checkFileName(project string) error {
	if project == "" || strings.HasPrefix(project, ".") || len(project) > 200 || strings.ContainsAny(project, `/\:*?"<>|`) ||
		strings.ContainsFunc(project, text.Hidden) {
		return inputError{fmt.Errorf("project %q can't name a file: rename it", project)}
	}
	return nil
}

func encodeSessions(sessions []Session) ([]byte, error) {
	type turn struct {
		ID        string      `json:"id"`
		Role      schema.Role `json:"role"`
		Name      string      `json:"name,omitempty"`
		Timestamp time.Time   `json:"timestamp,omitzero"`
		Content   string      `json:"content"`
	}
	type conversation struct {
		SessionID string `json:"session_id"`
		Messages  []turn `json:"messages"`
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, s := range sessions {
		c := conversation{SessionID: s.ID, Messages: []turn{}}
		for i, m := range s.Messages {
			c.Messages = append(c.Messages, turn{strconv.Itoa(i), m.Role, m.Speaker, m.Time, m.Text})
		}
		if err := e.Encode(c); err != nil {
			return nil, fmt.Errorf("write session %q: %w", s.ID, err)
		}
	}
	return b.Bytes(), nil
}

// settle notes which message each message will be. Of several it is the longest that a person or an agent said.
func settle(project string, sessions []Session, data []byte, places map[messageRef]int) error {
	parsed, err := format.Parse(context.Background(), bytes.NewReader(data), format.Options{Name: project + ".jsonl"}) // It was just written.
	if err != nil {
		return fmt.Errorf("read the transcript of %q back: %w", project, err)
	}
	if len(parsed) != len(sessions) {
		return inputError{fmt.Errorf("the transcript of %q has %d sessions, and %d were written: are ids used twice?", project, len(parsed), len(sessions))}
	}
	for i, p := range parsed {
		if p.ID != sessions[i].ID {
			return inputError{fmt.Errorf("session %q of %q is read as %q: rename it", sessions[i].ID, project, p.ID)}
		}
		longest := map[string]int{}
		for _, m := range p.Messages {
			if best, ok := longest[m.SourceID]; m.Extractable() && (!ok || len(p.Messages[best].Text) < len(m.Text)) {
				longest[m.SourceID] = m.Index
			}
		}
		for message := range sessions[i].Messages {
			if index, ok := longest[strconv.Itoa(message)]; ok {
				places[messageRef{project, p.ID, message}] = index
			}
		}
	}
	return nil
}

// renumbered returns the data set with the references to messages changed. Without sessions the references are to
// existing memory, and stay.
func (d Dataset) renumbered(places map[messageRef]int) Dataset {
	out := Dataset{LeftOut: slices.Clone(d.LeftOut)}
	for _, q := range d.Questions {
		refs := make([]Ref, 0, len(q.Relevant))
		seen := map[string]bool{}
		for _, r := range q.Relevant {
			if r.Message != nil && len(d.Sessions) > 0 {
				index, ok := places[messageRef{q.Project, r.Session, *r.Message}]
				if !ok {
					out.leaveOut("question %s: message %d of session %s is not conversation", q.ID, *r.Message, r.Session)
					continue
				}
				r.Message = &index
			}
			if !seen[r.key()] {
				seen[r.key()] = true
				refs = append(refs, r)
			}
		}
		if len(refs) == 0 && !q.Abstain {
			out.leaveOut("question %s: nothing is left that answers it", q.ID)
			continue
		}
		q.Relevant = refs
		out.Questions = append(out.Questions, q)
	}
	return out
}
