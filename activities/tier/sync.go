package tier

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/activity"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/ledger"
	"axiommind/activities/projection"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// MaxEditBytes is the size of the largest file whose edit is recorded.
const MaxEditBytes = 4 << 20

// editActor is the actor of events that record a person's edit of a file. The file does not say whose edit it is.
const editActor = "file"

// FilesInput asks for the files of one memory to be compared with the log.
type FilesInput struct {
	User  string    `json:"user"`
	Agent string    `json:"agent,omitempty"`
	At    time.Time `json:"at"`
	// All compares all files. It reads those that have changed since they were last read, as far as the listing of
	// their directory shows. Otherwise only MEMORY.md and the files that are behind the log are compared.
	All bool `json:"all,omitempty"`
	// Head is the head of the memory's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Writer returns the input of the workflow that writes the files.
func (in FilesInput) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: in.User, Agent: in.Agent}
}

// Validate returns an error if the input is invalid.
func (in FilesInput) Validate() error {
	if in.User == "" {
		return errors.New("user: want the id of the user whose files are meant")
	}
	if in.At.IsZero() {
		return errors.New("at: want the time of the comparison")
	}
	return nil
}

// FilesResult is the result of a comparison.
type FilesResult struct {
	// Edited counts the files whose edit was recorded, and Written those that were written.
	Edited  int               `json:"edited"`
	Written int               `json:"written"`
	Head    schema.StreamHead `json:"head,omitzero"`
}

// SyncFiles records a person's edits of the memory's files, and writes the content of the log that the files lack. Only
// the memory's workflow may call it.
//
// A file that fails is left as it is and does not stop the others. The error names it.
func (a *Activities) SyncFiles(ctx context.Context, in FilesInput) (FilesResult, error) {
	return boundary.Run(ctx, in, a.syncFiles)
}

// SubmitFiles asks the memory's workflow to compare the files with the log and waits for it.
func (a *Activities) SubmitFiles(ctx context.Context, in FilesInput) (FilesResult, error) {
	info := activity.GetInfo(ctx)
	// Each comparison is of the files as they are at that time, so a request is never answered with an older one.
	id := "files/" + info.WorkflowExecution.RunID + "/" + info.ActivityID
	return boundary.Submit[FilesResult](ctx, a.temporal, schema.UpdateFiles, id, in)
}

func (a *Activities) syncFiles(ctx context.Context, in FilesInput) (result FilesResult, err error) {
	if err := in.Validate(); err != nil {
		return result, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	s := &filesSync{Activities: a, in: in, layout: layout{in.User, in.Agent}, stream: in.Writer().Stream()}
	result, err = s.record(ctx)
	if err != nil {
		return result, err
	}
	// A file is overwritten only after its edit is stored.
	if result.Written, err = s.write(ctx); err != nil {
		return result, err
	}
	result.Head = a.log.Head(s.stream)
	return result, s.failure()
}

// filesSync is one comparison of the files of a memory with the log.
type filesSync struct {
	*Activities
	in     FilesInput
	layout layout
	stream string

	// edits are the events that record edits by people. writes are the files to write once the edits are in the log.
	edits  []schema.Event
	writes []fileWrite
	failed []error
}

// fileWrite brings a file and its row up to date.
type fileWrite struct {
	memoryFile
	// text is the content that the file must have. If write is false, nothing is written: the file has it already, or
	// there is no text.
	text  string
	write bool
	// hash is the hash to store for the file.
	hash string
	// edit is the dedupe key of the event that records the file's edit, or empty.
	edit string
}

// look reads the files and plans the edits and writes.
func (s *filesSync) look(ctx context.Context) error {
	s.edits, s.writes, s.failed = nil, nil, nil
	places, err := s.places(ctx)
	if err != nil {
		return err
	}
	if places, err = s.read(ctx, places); err != nil {
		return err
	}
	records, err := s.records(ctx, places)
	if err != nil {
		return err
	}
	for _, p := range places {
		switch {
		case p.unchanged():
			if p.listed != "" && p.listed != p.row.listed {
				p.seq = p.row.seq
				s.writes = append(s.writes, fileWrite{memoryFile: p, hash: p.row.hash})
			}
		case p.kind == "":
			err = s.compareCore(ctx, p)
		default:
			err = s.compareRecord(p, records[p.name()])
		}
		if err := s.note(err); err != nil {
			return err
		}
	}
	return nil
}

// note keeps an error that concerns one file and will not go away by itself. It returns any other.
func (s *filesSync) note(err error) error {
	var files *FilesError
	if errors.As(err, &files) && !files.Temporary {
		s.failed = append(s.failed, err)
		return nil
	}
	return err
}

// failure returns the error for the files that failed.
func (s *filesSync) failure() error {
	switch n := len(s.failed); n {
	case 0:
		return nil
	case 1:
		return s.failed[0]
	default:
		return fmt.Errorf("%w (and %d more files)", s.failed[0], n-1)
	}
}

// compareRecord compares a dated file with its records.
func (s *filesSync) compareRecord(p memoryFile, records []Record) error {
	states := fileStates(records)
	want := ""
	if len(states) > 0 {
		want = states[len(states)-1].text
	}
	read := hashText(p.file.Text)
	behind := func() bool {
		for _, state := range states {
			if state.seq > p.row.seq && (state.text == p.file.Text || state.read == read) {
				return true
			}
		}
		return false
	}
	if s.settled(p, want, len(states) > 0, behind) {
		return nil
	}
	if err := s.checkEdit(p, p.file.Text); err != nil { // To redact it takes longer.
		return err
	}
	text, _ := redact.Text(p.file.Text) // A file with secrets is rewritten without them.
	text = withLater(text, records, p.row.seq)
	if text == want || len(states) == 0 && strings.TrimSpace(text) == "" {
		s.writes = append(s.writes, fileWrite{memoryFile: p, text: want, write: len(states) > 0, hash: hashText(p.file.Text)})
		return nil
	}
	if err := s.checkEdit(p, text); err != nil {
		return err
	}
	edits := 1
	for _, r := range records {
		if r.Edited {
			edits++
		}
	}
	payload := schema.RecordEditedPayload{Kind: p.kind, Date: p.date, Text: text, Replaced: hashText(want), Read: read}
	key := schema.RecordEditedKey(s.in.User, s.in.Agent, p.kind, p.date, edits)
	return s.edit(p, key, payload, text)
}

// settled plans the work for a file that no person has changed: the last text of the log is written if the file lacks
// it. behind reports whether the file has an earlier text of the log that was written after the stored hash, or the
// text read for an edit that was recorded after that.
func (s *filesSync) settled(p memoryFile, want string, exists bool, behind func() bool) bool {
	w := fileWrite{memoryFile: p, text: want, hash: hashText(want)}
	switch {
	case !p.file.Exists && (!exists || want == ""):
		w.hash = ""
	case p.file.Exists && exists && p.file.Text == want:
	case !p.file.Exists, p.file.Exists && exists && (hashText(p.file.Text) == p.row.hash || behind()):
		w.write = true
	default:
		return false
	}
	s.writes = append(s.writes, w)
	return true
}

// checkEdit returns an error for an edit that cannot be recorded.
func (s *filesSync) checkEdit(p memoryFile, text string) error {
	refused := func(format string, args ...any) error {
		return &FilesError{Op: "take in the edit of", Where: s.root.where(p.path), Err: fmt.Errorf(format+
			": correct the file, or delete it to get the last text of the log back", args...)}
	}
	switch {
	case len(text) > MaxEditBytes:
		return refused("it has %d bytes and may have %d", len(text), MaxEditBytes)
	case !utf8.ValidString(text):
		return refused("it is not UTF-8")
	case strings.ContainsRune(text, 0):
		return refused("it holds a zero byte")
	}
	return nil
}

// edit adds the event that records the edit of a file.
func (s *filesSync) edit(p memoryFile, key string, payload any, text string) error {
	event, err := schema.NewEvent(payload, schema.Event{TS: s.in.At.UTC(), Actor: editActor, DedupeKey: key})
	if err != nil {
		return err
	}
	s.edits = append(s.edits, event)
	s.writes = append(s.writes, fileWrite{memoryFile: p, text: text, write: text != p.file.Text, hash: hashText(text), edit: key})
	return nil
}

// record plans the edits and the writes, and stores the edits.
func (s *filesSync) record(ctx context.Context) (FilesResult, error) {
	return ledger.One(ctx, s.log, ledger.Room[FilesInput, *filesSync, FilesResult]{
		Projectors: []projection.Projector{s.projector},
		Load:       func(ctx context.Context, _ []FilesInput) (*filesSync, error) { return s, s.look(ctx) },
		Decide: func(context.Context, *filesSync, FilesInput) (ledger.Decision[FilesResult], error) {
			return ledger.Decision[FilesResult]{Events: s.edits, Result: FilesResult{Edited: len(s.edits)}}, nil
		},
		Count: func(_ *FilesResult, stored ledger.Stored) error { return s.stored(stored) },
	}, s.in.Head, s.in)
}

// stored sets the positions of the edits.
func (s *filesSync) stored(edits ledger.Stored) error {
	if edits.Differing {
		// The edit was made of rows that lacked an earlier one.
		return fmt.Errorf("%w: an edit of a file was stored with another text", eventlog.ErrConcurrentWriter)
	}
	seqs := make(map[string]uint64, len(edits.Events))
	for _, e := range edits.Events {
		seqs[e.DedupeKey] = e.Seq
	}
	for i, w := range s.writes {
		if w.edit != "" {
			s.writes[i].seq = seqs[w.edit]
		}
	}
	return nil
}
