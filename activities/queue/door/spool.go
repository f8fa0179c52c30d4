package door

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"axiommind/schema"
)

const (
	// DefaultMaxSpooled is the default of [Spool.Max].
	DefaultMaxSpooled = 1000
	// maxSpooledBytes bounds the file of one context. Escaping makes its messages up to six times as long.
	maxSpooledBytes = 64 << 10
	// tempAge is the age at which a temporary file is taken for that of a killed process.
	tempAge = time.Hour

	tempPrefix  = ".tmp-"
	spoolSuffix = ".json"
	asideDir    = "aside"
)

// Spool is a directory of contexts that no queue has taken yet. Any number of processes may use it at once. Its contexts
// survive the end of the process, but the last few may be lost if the machine loses its power.
type Spool struct {
	// Dir is made when it is needed, for its owner alone.
	Dir string
	// Max is how many contexts wait. The oldest is put aside. Default [DefaultMaxSpooled].
	Max int
}

// spooled is a file of the spool. Its name consists of the time at which it was put and of [aboutOf] its context.
type spooled struct{ name, about string }

// Put stores the context. A transcript that waits there already is not delivered twice: the newer context replaces the
// older one, and is processed at once if that was to be.
func (s Spool) Put(q schema.QueuedContext) error {
	if err := q.Validate(); err != nil {
		return fmt.Errorf("spool a context: %w", err)
	}
	err := os.MkdirAll(s.Dir, 0o700)
	if err != nil {
		return fmt.Errorf("spool a context: %w", err)
	}
	waiting, err := s.list()
	if err != nil {
		return fmt.Errorf("spool a context: %w", err)
	}
	about := aboutOf(q)
	var older []spooled
	for _, w := range waiting {
		if w.about != about {
			continue
		}
		older = append(older, w)
		if was, err := s.read(w.name); err == nil && was.Now && !q.Now {
			q.Now, q.Flush = true, was.Flush
		}
	}
	text, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("spool a context: %w", err)
	}
	// The name sorts by time. A clock that was set back does no harm: duplicates are recognized by their id.
	name := fmt.Sprintf("%020d-%s%s", time.Now().UnixNano(), about, spoolSuffix)
	if err := s.write(name, text); err != nil {
		return fmt.Errorf("spool a context: %w", err)
	}
	for _, w := range older {
		if w.name != name {
			_ = os.Remove(filepath.Join(s.Dir, w.name)) // Otherwise it is delivered too, which does no harm.
		}
	}
	for _, w := range waiting[:max(0, len(waiting)-len(older)+1-cmp.Or(s.Max, DefaultMaxSpooled))] {
		s.putAside(w.name, errors.New("too many contexts waited to be delivered; to have it delivered, move its .json file back to the directory above"))
	}
	return nil
}

// Deliver sends the spooled contexts, in the order in which they were put, and removes those that were sent. It ends at the
// first context that can't be sent now and returns the reason. The rest stays. A context for a full queue, or one that can
// never be sent, does not block the others: the former stays, the latter is put aside, with the reason in a file next to
// it.
func (s Spool) Deliver(ctx context.Context, send func(context.Context, schema.QueuedContext) error) (sent int, err error) {
	waiting, err := s.list()
	if err != nil {
		return 0, fmt.Errorf("deliver spooled contexts: %w", err)
	}
	var full error
	for _, w := range waiting {
		if err := ctx.Err(); err != nil {
			return sent, fmt.Errorf("deliver spooled contexts: %w", err)
		}
		q, err := s.read(w.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // Another process has delivered or replaced it.
		case errors.Is(err, errNever):
			s.putAside(w.name, err)
			continue
		case err != nil:
			return sent, fmt.Errorf("deliver spooled contexts: %w", err)
		}
		switch err = send(ctx, q); {
		case err == nil:
			sent++
			if err := os.Remove(filepath.Join(s.Dir, w.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return sent, fmt.Errorf("deliver spooled contexts: %w", err)
			}
		case errors.Is(err, ErrFull):
			full = fmt.Errorf("deliver spooled contexts: %w", err)
		case refusedForGood(err):
			s.putAside(w.name, err)
		default:
			return sent, fmt.Errorf("deliver spooled contexts: %w", err)
		}
	}
	return sent, full
}

// refusedForGood reports whether the server will never take the context.
func refusedForGood(err error) bool {
	var invalid *serviceerror.InvalidArgument
	return errors.As(err, &invalid)
}

// Drop removes the contexts that match, also of those that were put aside, and returns how many.
func (s Spool) Drop(match func(schema.QueuedContext) bool) (dropped int, err error) {
	for _, dir := range []string{s.Dir, filepath.Join(s.Dir, asideDir)} {
		waiting, err := Spool{Dir: dir}.list()
		if err != nil {
			return dropped, err
		}
		for _, w := range waiting {
			path := filepath.Join(dir, w.name)
			text, err := os.ReadFile(filepath.Clean(path))
			var q schema.QueuedContext
			if err != nil || json.Unmarshal(text, &q) != nil || !match(q) {
				continue // It was delivered just now, is unreadable, or does not match.
			}
			_ = os.Remove(path + ".txt")
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return dropped, fmt.Errorf("drop a spooled context: %w", err)
			}
			dropped++
		}
	}
	return dropped, nil
}

// Len returns how many contexts wait.
func (s Spool) Len() (int, error) {
	waiting, err := s.list()
	return len(waiting), err
}

// Logger receives the messages of [Watch]. A slog.Logger is one.
type Logger interface {
	Info(message string, keyvals ...any)
	Warn(message string, keyvals ...any)
}

// DefaultWatch is how often a worker looks for spooled contexts.
const DefaultWatch = 5 * time.Second

// Watch delivers the spooled contexts at once and then at each interval, until the context ends. Contexts that hooks could
// not deliver while Temporal was down are thus delivered without another hook.
func Watch(ctx context.Context, s Spool, c client.Client, every time.Duration, log Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last, kept := "", 0
	for {
		sent, err := s.Deliver(ctx, skipFullQueues(c))
		if sent > 0 {
			log.Info("delivered contexts that were spooled", "contexts", sent, "spool", s.Dir)
		}
		if n := s.aside(); n != kept {
			if kept = n; n > 0 {
				log.Warn("contexts can't be delivered: its .txt file says why for each", "contexts", n, "directory", filepath.Join(s.Dir, asideDir))
			}
		}
		text := ""
		if err != nil && ctx.Err() == nil {
			if text = err.Error(); text != last {
				log.Warn("contexts stay spooled", "spool", s.Dir, "reason", err)
			}
		}
		last = text
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// aboutOf returns the same key for two contexts if the later one contains all of the earlier one.
func aboutOf(q schema.QueuedContext) string {
	key := schema.HashParts("context", q.ID)
	if q.URI != "" {
		key = schema.HashParts("transcript", q.User, q.Agent, q.Project, q.Thread, q.URI)
	}
	return key[:32]
}

// list returns the spooled files, the oldest first, and none if there is no directory.
func (s Spool) list() ([]spooled, error) {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []spooled
	for _, f := range files {
		name := f.Name()
		if strings.HasPrefix(name, tempPrefix) {
			if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > tempAge {
				_ = os.Remove(filepath.Join(s.Dir, name))
			}
			continue
		}
		stem, isSpooled := strings.CutSuffix(name, spoolSuffix)
		if _, about, found := strings.Cut(stem, "-"); isSpooled && found {
			out = append(out, spooled{name, about})
		}
	}
	return out, nil
}

// errNever is the error for a file that will never be delivered.
var errNever = errors.New("no context")

func (s Spool) read(name string) (q schema.QueuedContext, err error) {
	path := filepath.Join(s.Dir, name)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return q, err
	case !info.Mode().IsRegular():
		return q, fmt.Errorf("%w: %q is no file", errNever, path)
	case info.Size() > maxSpooledBytes:
		return q, fmt.Errorf("%w: %q has %d bytes, more than %d", errNever, path, info.Size(), maxSpooledBytes)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		return q, fmt.Errorf("%w: %w", errNever, err)
	}
	if err != nil {
		return q, err
	}
	if err := json.Unmarshal(text, &q); err != nil {
		return q, fmt.Errorf("%w: read %q: %w", errNever, path, err)
	}
	if err := q.Validate(); err != nil {
		return q, fmt.Errorf("%w: read %q: %w", errNever, path, err)
	}
	return q, nil
}

// write has the file appear complete or not at all.
func (s Spool) write(name string, text []byte) error {
	file, err := os.CreateTemp(s.Dir, tempPrefix+"*") // Its mode is 0600.
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(s.Dir, name))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// putAside moves a file out of the way, where it stays until a person or forget removes it: it may be the only copy of its
// messages. A file that can't be moved stays, and is met again.
func (s Spool) putAside(name string, why error) {
	dir := filepath.Join(s.Dir, asideDir)
	if os.MkdirAll(dir, 0o700) != nil || os.Rename(filepath.Join(s.Dir, name), filepath.Join(dir, name)) != nil {
		return
	}
	_ = os.WriteFile(filepath.Join(dir, name+".txt"), []byte(why.Error()+"\n"), 0o600)
}

// aside counts the contexts that were put aside.
func (s Spool) aside() int {
	n, _ := Spool{Dir: filepath.Join(s.Dir, asideDir)}.Len()
	return n
}
