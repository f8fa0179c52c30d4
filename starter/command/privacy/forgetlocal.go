package privacy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"axiommind/activities/erase"
	"axiommind/activities/queue/door"
	"axiommind/activities/transcript"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/watchstate"
	"axiommind/worker/statedir"
)

// localStore is forget's name for the state directory.
const localStore = "this machine"

// local returns the places in the state directory that contain something to erase: undelivered contexts, copies of standard
// input, states of watch, and lines of the hooks' log. With drop it removes them.
func local(a *command.App, o *forgetOptions, drop bool) ([]schema.Leftover, error) {
	places := []schema.Leftover{}
	if a.Cfg.State == "" {
		return places, nil
	}
	for _, of := range []struct {
		one, many string
		find      func(dir statedir.Dir, drop bool) (int, error)
	}{
		{"undelivered context", "undelivered contexts", o.localContexts}, {"copy of standard input", "copies of standard input", o.localCopies},
		{"state of watch", "states of watch", o.localWatched}, {"line of the hooks' log", "lines of the hooks' log", o.localLines},
	} {
		n, err := of.find(a.Cfg.State, drop)
		if err != nil {
			return places, fmt.Errorf("look through %q: %w", a.Cfg.State, err)
		}
		if n > 0 {
			places = append(places, schema.Leftover{Store: localStore, Place: fmt.Sprintf("%s in %s", command.Plural(n, of.one, of.many), a.Cfg.State)})
		}
	}
	return places, nil
}

// concerns reports whether a session is erased as a whole.
func (o *forgetOptions) concerns(key schema.SessionKey) bool {
	switch o.Kind() {
	case schema.EraseSession:
		return key == o.Session()
	case schema.EraseUser:
		return key.User == o.User
	case schema.EraseProject:
		return key.Project == o.Project
	default:
		return false
	}
}

// seeks reports whether the text is erased wherever the session contains it.
func (o *forgetOptions) seeks(key schema.SessionKey, text string) bool {
	return o.Kind() == schema.EraseQuery && (o.User == "" || key.User == o.User) && (o.Project == "" || key.Project == o.Project) &&
		erase.Matches(o.ErasureScope, text)
}

func (o *forgetOptions) localContexts(dir statedir.Dir, drop bool) (n int, err error) {
	_, err = door.Spool{Dir: dir.Path(statedir.Outbox)}.Drop(func(q schema.QueuedContext) bool {
		concerned := o.concerns(q.Key())
		for _, m := range q.Messages {
			concerned = concerned || o.seeks(q.Key(), m.Content)
		}
		if concerned {
			n++
		}
		return concerned && drop
	})
	return n, err
}

func (o *forgetOptions) localCopies(dir statedir.Dir, drop bool) (n int, err error) {
	paths, err := dir.Copies()
	for _, path := range paths {
		f, openErr := os.Open(path) //nolint:gosec // a path in the state directory
		if openErr != nil {
			continue // It is gone.
		}
		key, found, readErr := format.ReadKept(f, o.seeks)
		_ = f.Close()
		if readErr == nil && !found && !o.concerns(key) { // A broken copy may belong to any user.
			continue
		}
		n++
		if uri, err := transcript.FileURI(path); err == nil && drop {
			dir.DropStdin(uri)
		}
	}
	return n, err
}

// localWatched drops the states of watch of a user or project, and a session from the others.
func (o *forgetOptions) localWatched(dir statedir.Dir, drop bool) (n int, err error) {
	files, err := os.ReadDir(dir.Path(statedir.Watch))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, file := range files {
		s, readErr := watchstate.Read(filepath.Join(dir.Path(statedir.Watch), file.Name()))
		if readErr != nil {
			continue // It is gone, or is incomplete and contains no name.
		}
		switch {
		case o.Kind() == schema.EraseSession && s.Scope == o.Session().Scope && s.Knows(o.SessionID):
			n++
			if drop {
				s.Drop(o.SessionID)
				err = errors.Join(err, s.Save())
			}
		case o.Kind() != schema.EraseSession && o.concerns(schema.SessionKey{Scope: s.Scope}):
			n++
			if drop {
				err = errors.Join(err, os.Remove(s.Path))
			}
		}
	}
	return n, err
}

// localLines drops the lines of the hooks' log that name the session, user or project.
func (o *forgetOptions) localLines(dir statedir.Dir, drop bool) (n int, err error) {
	for _, path := range []string{dir.Path(statedir.HookLog), dir.Path(statedir.HookLog) + ".1"} {
		text, readErr := os.ReadFile(path) //nolint:gosec // a path in the state directory
		if readErr != nil {
			continue // Hooks have written nothing.
		}
		var keep strings.Builder
		before := n
		for line := range strings.Lines(string(text)) {
			if o.names(line) {
				n++
			} else {
				keep.WriteString(line)
			}
		}
		if drop && n > before {
			err = errors.Join(err, os.WriteFile(path, []byte(keep.String()), 0o600))
		}
	}
	return n, err
}

// names reports whether a line names the session, user or project. A name in the log is quoted as Go quotes it, perhaps
// twice.
func (o *forgetOptions) names(line string) bool {
	name := o.what()
	if o.Kind() == schema.EraseQuery {
		return erase.Matches(o.ErasureScope, line)
	}
	for range 3 {
		if strings.Contains(line, name) {
			return true
		}
		name = strings.Trim(strconv.Quote(name), `"`)
	}
	return false
}
