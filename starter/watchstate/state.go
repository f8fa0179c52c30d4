// Package watchstate keeps the state of watch: the files that it has read.
package watchstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"axiommind/schema"
	"axiommind/starter/client"
	"axiommind/worker/statedir"
)

// Session is a conversation to enqueue, with the fingerprint to store afterwards.
type Session struct {
	client.Conversation
	Fingerprint string
}

// Mark detects cheaply whether a file has changed. The mark of a database includes its write-ahead log.
type Mark struct {
	Size     int64 `json:"size"`
	Modified int64 `json:"modified"`
}

// MarkOf returns the mark of a file.
func MarkOf(info fs.FileInfo) Mark { return Mark{info.Size(), info.ModTime().UnixNano()} }

// Time returns when the file was modified.
func (m Mark) Time() time.Time { return time.Unix(0, m.Modified) }

// With adds the mark of a database's write-ahead log. Both size and time count, because the log may be deleted and created
// again.
func (m Mark) With(log Mark) Mark {
	return Mark{m.Size + log.Size, max(m.Modified, log.Modified)}
}

// File is the stored state of a file.
type File struct {
	Mark Mark `json:"mark"`
	// Sessions are the fingerprints of its sessions, by the hashes of their ids. It is nil if the file was not read.
	Sessions map[string]string `json:"sessions,omitempty"`
	// Since is the time from which messages of a file that existed before it was watched count as new.
	Since time.Time `json:"since,omitzero"`
	// Reason is why the file is no transcript.
	Reason string `json:"reason,omitempty"`
	// Read is the mark of the file when it was read. It is kept while some of its sessions are not enqueued.
	Read Mark
}

// State is the state of the files, stored for the next start of watch. It contains no names of files or sessions.
type State struct {
	// Scope is the scope of the sessions, by which forget finds the state.
	schema.Scope
	// Begun is true after the first scan.
	Begun bool `json:"begun"`
	// Files are the states of files by the hashes of their paths.
	Files map[string]File `json:"files"`

	Path  string
	dirty bool
}

// Open reads the state of the directories and the scope. An invalid or missing state starts empty.
func Open(dir statedir.Dir, roots []string, in schema.ProcessSessionInput) (*State, error) {
	if dir == "" {
		return nil, errors.New("find a place for the state of watch: there is no home directory; set HOME or XDG_STATE_HOME")
	}
	sorted := slices.Sorted(slices.Values(roots))
	name := schema.HashParts(append([]string{in.Project, in.User, in.Agent, in.Format, strconv.FormatBool(in.IncludeTools)}, sorted...)...)[:20]
	scope := schema.Scope{Project: in.Project, User: in.User, Agent: in.Agent}
	s, err := Read(filepath.Join(dir.Path(statedir.Watch), name+".json"))
	var failed *fs.PathError
	switch {
	case errors.As(err, &failed) && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the state of watch: %w", err)
	case err != nil:
		*s = State{Path: s.Path}
	}
	s.Scope = scope
	if s.Files == nil {
		s.Files = map[string]File{}
	}
	return s, nil
}

// Knows reports whether the state contains the session.
func (s *State) Knows(session string) bool {
	for _, f := range s.Files {
		if _, is := f.Sessions[Hashed(session)]; is {
			return true
		}
	}
	return false
}

// Drop removes the session from the state. Its file counts as seen.
func (s *State) Drop(session string) {
	for _, f := range s.Files {
		delete(f.Sessions, Hashed(session))
	}
	s.dirty = true
}

// Read reads a state.
func Read(path string) (*State, error) {
	s := &State{Path: path}
	text, err := os.ReadFile(path) //nolint:gosec // a path in the state directory
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	return s, err
}

// Set stores the state of a file.
func (s *State) Set(path string, f File) {
	s.Files[Hashed(path)] = f
	s.dirty = true
}

// Hashed returns the key of a file or session in the state.
func Hashed(name string) string { return schema.HashParts(name)[:32] }

// Begin marks the first scan as done.
func (s *State) Begin() {
	s.dirty = s.dirty || !s.Begun
	s.Begun = true
}

// Forget removes the files that no longer exist.
func (s *State) Forget(found map[string]Mark) {
	here := make(map[string]bool, len(found))
	for path := range found {
		here[Hashed(path)] = true
	}
	before := len(s.Files)
	maps.DeleteFunc(s.Files, func(name string, _ File) bool { return !here[name] })
	s.dirty = s.dirty || len(s.Files) < before
}

// Enqueued records that the session was enqueued as read. The file is done once all of its sessions are.
func (s *State) Enqueued(w Session, all bool) {
	f, is := s.Files[Hashed(w.File)]
	if !is {
		return // It was removed in the meantime.
	}
	if f.Sessions == nil {
		f.Sessions = map[string]string{}
	}
	f.Sessions[Hashed(w.Thread)] = w.Fingerprint
	if all {
		f.Mark = f.Read
	}
	s.Set(w.File, f)
}

// Save writes the state if it has changed. It replaces the file atomically.
func (s *State) Save() (err error) {
	if !s.dirty {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the state of watch: %w", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(s.Path), strings.TrimSuffix(filepath.Base(s.Path), ".json")+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), s.Path); err != nil {
		return err
	}
	s.dirty = false
	return nil
}
