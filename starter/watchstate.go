package main

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
	"axiommind/worker/statedir"
)

// fileMark detects cheaply whether a file has changed. The mark of a database includes its write-ahead log.
type fileMark struct {
	Size     int64 `json:"size"`
	Modified int64 `json:"modified"`
}

// markOf returns the mark of a file.
func markOf(info fs.FileInfo) fileMark { return fileMark{info.Size(), info.ModTime().UnixNano()} }

// time returns when the file was modified.
func (m fileMark) time() time.Time { return time.Unix(0, m.Modified) }

// with adds the mark of a database's write-ahead log. Both size and time count, because the log may be deleted and created
// again.
func (m fileMark) with(log fileMark) fileMark {
	return fileMark{m.Size + log.Size, max(m.Modified, log.Modified)}
}

// watchedFile is the stored state of a file.
type watchedFile struct {
	Mark fileMark `json:"mark"`
	// Sessions are the fingerprints of its sessions, by the hashes of their ids. It is nil if the file was not read.
	Sessions map[string]string `json:"sessions,omitempty"`
	// Since is the time from which messages of a file that existed before it was watched count as new.
	Since time.Time `json:"since,omitzero"`
	// Reason is why the file is no transcript.
	Reason string `json:"reason,omitempty"`
	// read is the mark of the file when it was read. It is kept while some of its sessions are not enqueued.
	read fileMark
}

// watchState is the state of the files, stored for the next start of watch. It contains no names of files or sessions.
type watchState struct {
	// Scope is the scope of the sessions, by which forget finds the state.
	schema.Scope
	// Begun is true after the first scan.
	Begun bool `json:"begun"`
	// Files are the states of files by the hashes of their paths.
	Files map[string]watchedFile `json:"files"`

	path  string
	dirty bool
}

// openWatchState reads the state of the directories and the scope. An invalid or missing state starts empty.
func openWatchState(dir statedir.Dir, roots []string, in schema.ProcessSessionInput) (*watchState, error) {
	if dir == "" {
		return nil, errors.New("find a place for the state of watch: there is no home directory; set HOME or XDG_STATE_HOME")
	}
	sorted := slices.Sorted(slices.Values(roots))
	name := schema.HashParts(append([]string{in.Project, in.User, in.Agent, in.Format, strconv.FormatBool(in.IncludeTools)}, sorted...)...)[:20]
	scope := schema.Scope{Project: in.Project, User: in.User, Agent: in.Agent}
	s, err := readWatchState(filepath.Join(dir.Path(statedir.Watch), name+".json"))
	var failed *fs.PathError
	switch {
	case errors.As(err, &failed) && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the state of watch: %w", err)
	case err != nil:
		*s = watchState{path: s.path}
	}
	s.Scope = scope
	if s.Files == nil {
		s.Files = map[string]watchedFile{}
	}
	return s, nil
}

// knows reports whether the state contains the session.
func (s *watchState) knows(session string) bool {
	for _, f := range s.Files {
		if _, is := f.Sessions[hashed(session)]; is {
			return true
		}
	}
	return false
}

// drop removes the session from the state. Its file counts as seen.
func (s *watchState) drop(session string) {
	for _, f := range s.Files {
		delete(f.Sessions, hashed(session))
	}
	s.dirty = true
}

// readWatchState reads a state.
func readWatchState(path string) (*watchState, error) {
	s := &watchState{path: path}
	text, err := os.ReadFile(path) //nolint:gosec // a path in the state directory
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	return s, err
}

// set stores the state of a file.
func (s *watchState) set(path string, f watchedFile) {
	s.Files[hashed(path)] = f
	s.dirty = true
}

// hashed returns the key of a file or session in the state.
func hashed(name string) string { return schema.HashParts(name)[:32] }

// begin marks the first scan as done.
func (s *watchState) begin() {
	s.dirty = s.dirty || !s.Begun
	s.Begun = true
}

// forget removes the files that no longer exist.
func (s *watchState) forget(found map[string]fileMark) {
	here := make(map[string]bool, len(found))
	for path := range found {
		here[hashed(path)] = true
	}
	before := len(s.Files)
	maps.DeleteFunc(s.Files, func(name string, _ watchedFile) bool { return !here[name] })
	s.dirty = s.dirty || len(s.Files) < before
}

// enqueued records that the session was enqueued as read. The file is done once all of its sessions are.
func (s *watchState) enqueued(w waitingSession, all bool) {
	f, is := s.Files[hashed(w.File)]
	if !is {
		return // It was removed in the meantime.
	}
	if f.Sessions == nil {
		f.Sessions = map[string]string{}
	}
	f.Sessions[hashed(w.Thread)] = w.fingerprint
	if all {
		f.Mark = f.read
	}
	s.set(w.File, f)
}

// save writes the state if it has changed. It replaces the file atomically.
func (s *watchState) save() (err error) {
	if !s.dirty {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the state of watch: %w", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(s.path), strings.TrimSuffix(filepath.Base(s.path), ".json")+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), s.path); err != nil {
		return err
	}
	s.dirty = false
	return nil
}
