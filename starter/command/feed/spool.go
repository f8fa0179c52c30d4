package feed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"axiommind/activities/transcript/format"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
	"axiommind/worker/statedir"
)

// stdinName is the name of standard input in errors.
const stdinName = "standard input"

// Spool reads the sessions of standard input and stores each in its own file, which the worker reads. Secrets are redacted
// first. The files are removed when their builds have ended, or after [statedir.StdinAge].
func Spool(ctx context.Context, a *command.App, o *ProcessOptions) (paths []string, err error) {
	blank := blankness(true)
	sessions, err := format.Parse(ctx, io.TeeReader(a.In, &blank), format.Options{Name: stdinName, Format: o.Input.Format})
	switch {
	case bool(blank) && (err == nil || errors.Is(err, format.ErrUnknownFormat)):
		return nil, command.Usagef("standard input is empty: give a transcript, or the name of a file instead of -")
	case errors.Is(err, format.ErrTryAgain):
		return nil, err
	case err != nil:
		return nil, command.BadUsage(err)
	}
	if sessions, err = o.named(sessions); err != nil {
		return nil, err
	}
	dir := a.Cfg.State.Path(statedir.Stdin)
	if dir == "" {
		return nil, errors.New("find a place for standard input: there is no home directory; set HOME or XDG_STATE_HOME")
	}
	if err = os.MkdirAll(dir, 0o700); err == nil {
		dir, err = os.MkdirTemp(dir, "stdin-*")
	}
	if err != nil {
		return nil, fmt.Errorf("store standard input: %w", err)
	}
	for i, s := range sessions {
		path := filepath.Join(dir, fmt.Sprintf("stdin-%d", i+1))
		if err := keep(path, schema.Scope{Project: o.Input.Project, User: o.Input.User, Agent: o.Input.Agent}, s); err != nil {
			_ = os.RemoveAll(dir)
			return nil, fmt.Errorf("store standard input: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// named gives an id to sessions that lack one, and returns the sessions to process. These ids are derived from the redacted
// text, because an id of the source would allow guessing its secrets.
func (o *ProcessOptions) named(sessions []*format.Session) ([]*format.Session, error) {
	said := false
	for i, s := range sessions {
		said = said || len(s.Messages)+len(s.Skipped) > 0
		if s.ID == "" || s.ID == stdinName {
			keys := []string{fmt.Sprint(i)}
			for _, m := range s.Messages {
				keys = append(keys, m.Key)
			}
			s.ID = "stdin-" + schema.HashParts(keys...)[:20]
		}
	}
	want := o.Input.SessionID
	for _, s := range sessions {
		if len(sessions) == 1 {
			s.ID = cmp.Or(want, s.ID)
		}
		shown := s.ID
		if redact.Names(&shown); shown != s.ID {
			return nil, command.Usagef("%s", holdsCredential(shown))
		}
		if s.ID == want {
			sessions = []*format.Session{s}
		}
	}
	switch {
	case want != "" && sessions[0].ID != want:
		return nil, command.Usagef("standard input holds %d sessions, none with the id %q", len(sessions), want)
	case !said && o.Input.Format != "":
		return nil, fmt.Errorf("nothing of standard input can be read as %s", o.Input.Format)
	}
	return sessions, nil
}

// keep writes the copy of a session atomically, because forget assumes that a broken copy may belong to any user.
func keep(path string, owner schema.Scope, s *format.Session) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keep-*")
	if err != nil {
		return err
	}
	err = errors.Join(format.Keep(f, owner, s), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// unspool removes the copies of standard input whose builds have ended. The copy of a failed build stays for a retry.
func unspool(a *command.App, jobs []*progress.Job) {
	ended := []schema.BuildStatus{schema.BuildSuccess, schema.BuildPartial, schema.BuildEmpty, schema.BuildUnchanged, schema.BatchBusy}
	for _, j := range jobs {
		if j.Refused || slices.Contains(ended, j.Result.Status) {
			a.Cfg.State.DropStdin(j.Input.URI)
		}
	}
}

// blankness is a writer that is true until something other than white space is written to it.
type blankness bool

func (b *blankness) Write(p []byte) (int, error) {
	*b = *b && len(bytes.TrimSpace(p)) == 0
	return len(p), nil
}
