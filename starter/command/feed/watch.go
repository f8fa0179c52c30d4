package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axiommind/activities/transcript"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
	"axiommind/starter/client"
	"axiommind/starter/command"
	"axiommind/starter/watchstate"
)

// Bounds of the interval between two scans of a directory.
const (
	watchInterval    = 2 * time.Second
	minWatchInterval = 50 * time.Millisecond
	maxWatchInterval = time.Hour
)

const (
	// settles is the number of scans after which a file that keeps changing is read anyway.
	settles = 15
	// writeDelay is the maximum delay between a message's time and its write.
	writeDelay = time.Minute
	// sendTimeout bounds the attempt to enqueue a session.
	sendTimeout = 20 * time.Second
	// fullPause is the pause before a full queue is tried again.
	fullPause = time.Minute
)

// WatchOptions are the flags of watch.
type WatchOptions struct {
	enqueueOptions
	interval time.Duration
	since    string
}

func watchCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch DIR…", Short: "enqueue the sessions of transcripts that are new or have grown, until it is stopped",
		Long: `Sessions are enqueued as by enqueue. A file is read when two looks in a row find it the same, or after 15 looks. Links
are not followed. The state of the files is kept in the state directory, by hashes of their names, for each set of directories,
project, user and agent.`,
		Example: "starter watch ~/.claude/projects ~/.codex/sessions\n" +
			"starter watch ~/agent --project demo --since 7d",
	}
	f := cmd.Flags()
	o := &WatchOptions{}
	o.add(f)
	f.DurationVar(&o.interval, "interval", watchInterval, "how often to look")
	f.StringVar(&o.since, "since", "", "also enqueue files not watched before that changed since then, like 7d or 2006-01-02")
	return a.Online(command.Server(cmd), func(ctx context.Context, dirs []string) error { return watch(ctx, a, o, dirs) })
}

func watch(ctx context.Context, a *command.App, o *WatchOptions, dirs []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.interval < minWatchInterval || o.interval > maxWatchInterval {
		return command.Usagef("--interval %v: want %v to %v", o.interval, minWatchInterval, maxWatchInterval)
	}
	since, err := command.ParseSince(o.since, time.Now())
	if err != nil {
		return err
	}
	roots, err := rootsOf(dirs)
	if err != nil {
		return err
	}
	if a.Cfg.NoQueue {
		_, _ = fmt.Fprintln(a.ErrOut, "memory is switched off (no-queue): nothing is watched")
		return nil
	}
	c, err := a.Client(ctx)
	if err != nil {
		return err
	}
	state, err := watchstate.Open(a.Cfg.State, roots, o.Input)
	if err != nil {
		return err
	}
	w := &watcher{app: a, o: o, c: c, roots: roots, since: since, state: state, seen: map[string]scanState{}, told: map[string]bool{}}
	return w.run(ctx)
}

// rootsOf returns the directories as absolute paths without links. A file can be watched, too.
func rootsOf(dirs []string) ([]string, error) {
	var roots []string
	for _, dir := range dirs {
		real, err := filepath.Abs(dir)
		if err == nil {
			real, err = filepath.EvalSymlinks(real)
		}
		if err != nil {
			var of *fs.PathError
			if errors.As(err, &of) {
				err = of.Err
			}
			return nil, command.Usagef("watch %q: %w", dir, err)
		}
		roots = append(roots, real)
	}
	return roots, nil
}

// watcher enqueues the sessions of files that change.
type watcher struct {
	app   *command.App
	o     *WatchOptions
	c     *client.Client
	roots []string
	since time.Time
	state *watchstate.State
	// seen contains the state of changed files at the last scan.
	seen map[string]scanState
	// waiting are conversations that could not be enqueued yet, in order.
	waiting []watchstate.Session
	// fullUntil is when a full queue is tried again.
	fullUntil time.Time
	// told contains the complaints that were printed. Each is printed once until its cause ends.
	told map[string]bool
}

// scanState is the state of a changed file, and the number of scans since.
type scanState struct {
	mark  watchstate.Mark
	looks int
}

// run scans until the context ends, which is not an error.
func (w *watcher) run(ctx context.Context) error {
	_, _ = fmt.Fprintf(w.app.ErrOut, "watching %s every %v; state is kept in %s\n",
		command.Unbroken(strings.Join(w.roots, ", ")), w.o.interval, w.state.Path)
	ticker := time.NewTicker(w.o.interval)
	defer ticker.Stop()
	for {
		w.look(ctx)
		if err := w.state.Save(); err != nil {
			w.complain("state", err.Error()+"; after a restart, more may be enqueued again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// look reads the changed files and enqueues their sessions.
func (w *watcher) look(ctx context.Context) {
	found, whole := w.scan(ctx)
	if ctx.Err() != nil {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		mark := found[path]
		known, is := w.state.Files[watchstate.Hashed(path)]
		switch {
		case is && known.Mark == mark, w.waitsFor(path):
			delete(w.seen, path)
		case !is && !w.state.Begun:
			w.state.Set(path, w.before(mark))
		case w.settled(path, mark):
			w.read(ctx, path, mark, known)
		}
	}
	if ctx.Err() != nil {
		return
	}
	w.state.Begin()
	if whole {
		w.state.Forget(found)
	}
	w.enqueue(ctx)
}

// before returns the initial state of a file that existed before it was watched. With --since, the file is read if it has
// changed since.
func (w *watcher) before(mark watchstate.Mark) watchstate.File {
	if w.since.IsZero() || mark.Time().Before(w.since) {
		return watchstate.File{Mark: mark, Since: time.Now().UTC()}
	}
	return watchstate.File{Since: w.since}
}

// settled reports whether the file has not changed since the last scan, or has kept changing for too long.
func (w *watcher) settled(path string, mark watchstate.Mark) bool {
	s := w.seen[path]
	if s.mark == mark || s.looks >= settles {
		delete(w.seen, path)
		return true
	}
	w.seen[path] = scanState{mark, s.looks + 1}
	return false
}

// waitsFor reports whether sessions of the file are pending. Their worker reads the file's content at that time.
func (w *watcher) waitsFor(path string) bool {
	for _, s := range w.waiting {
		if s.File == path {
			return true
		}
	}
	return false
}

// scan returns the regular files below the roots with their marks. whole is false if a directory could not be listed.
func (w *watcher) scan(ctx context.Context) (found map[string]watchstate.Mark, whole bool) {
	found, whole = map[string]watchstate.Mark{}, true
	beside := map[string]watchstate.Mark{}
	for _, root := range w.roots {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil && !errors.Is(err, fs.ErrNotExist) || err != nil && path == root:
				whole = false
				w.complain("list "+path, fmt.Sprintf("%s can't be listed: %v", path, err))
				return nil
			case err != nil || entry.IsDir() || !entry.Type().IsRegular():
				return nil //nolint:nilerr // it is gone, or leads elsewhere
			}
			delete(w.told, "list "+path)
			info, err := entry.Info()
			if err != nil {
				return nil //nolint:nilerr // it is gone
			}
			if base, is := strings.CutSuffix(path, "-wal"); is {
				beside[base] = watchstate.MarkOf(info)
			} else if !strings.HasSuffix(path, "-shm") && !strings.HasSuffix(path, "-journal") {
				found[path] = watchstate.MarkOf(info)
			}
			return nil
		})
	}
	for base, mark := range beside { // Writes to a database go to its write-ahead log first.
		if m, is := found[base]; is {
			found[base] = m.With(mark)
		}
	}
	return found, whole
}

// read finds the changed sessions of the file.
func (w *watcher) read(ctx context.Context, path string, mark watchstate.Mark, known watchstate.File) {
	if known.Reason != "" && mark.Size >= known.Mark.Size && mark.Size < 2*known.Mark.Size {
		return // It is no transcript. It is read again once its size has doubled.
	}
	uri, err := transcript.FileURI(path)
	if err != nil {
		return
	}
	sessions, _, err := transcript.ReadSource(ctx, uri, w.o.Input.Format)
	switch {
	case ctx.Err() != nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, format.ErrTryAgain):
		return // The next scan reads it.
	case err != nil:
		reason := passedOverBecause(err, path)
		if reason != known.Reason {
			_, _ = fmt.Fprintf(w.app.ErrOut, "skipped %s: %s\n", command.Unbroken(path), command.OneLine(reason, maxReasonShown))
		}
		known.Mark, known.Reason = mark, reason
		w.state.Set(path, known)
		return
	}
	next := watchstate.File{Mark: mark, Sessions: map[string]string{}}
	first := len(w.waiting)
	for _, s := range sessions {
		fingerprint := fingerprintOf(s)
		if len(s.Messages) == 0 || !w.changed(s, fingerprint, known, len(sessions) == 1) {
			next.Sessions[watchstate.Hashed(s.ID)] = fingerprint
			continue
		}
		if before, is := known.Sessions[watchstate.Hashed(s.ID)]; is {
			next.Sessions[watchstate.Hashed(s.ID)] = before
		}
		each := w.o.conversation(w.app.NewID(), s.ID)
		signals := client.FindSignals(s.Messages)
		each.File, each.Format, each.Signals = path, w.o.Input.Format, &signals
		w.waiting = append(w.waiting, watchstate.Session{Conversation: each, Fingerprint: fingerprint})
	}
	if len(w.waiting) > first {
		next.Mark = watchstate.Mark{} // It is read again after a restart, unless all were enqueued.
		next.Read = mark
	}
	w.state.Set(path, next)
}

// changed reports whether to enqueue the session. For a file that existed before it was watched, only the times of the
// messages are known.
func (w *watcher) changed(s *transcript.Session, fingerprint string, known watchstate.File, alone bool) bool {
	switch {
	case known.Sessions != nil:
		return known.Sessions[watchstate.Hashed(s.ID)] != fingerprint
	case known.Since.IsZero(), alone:
		return true
	}
	last := s.Messages[len(s.Messages)-1].At
	return last.IsZero() || !last.Before(known.Since.Add(-writeDelay))
}

// fingerprintOf returns a fingerprint of a session's messages.
func fingerprintOf(s *transcript.Session) string {
	keys := make([]string, len(s.Messages))
	for i, m := range s.Messages {
		keys[i] = m.Key
	}
	return schema.HashParts(keys...)[:32]
}

// passedOverBecause returns why a file is no transcript, without the names of all formats.
func passedOverBecause(err error, path string) string {
	var of *fs.PathError
	switch {
	case errors.Is(err, transcript.ErrUnknownFormat):
		return "it is not a transcript of a known format"
	case errors.As(err, &of):
		return of.Err.Error()
	}
	return strings.TrimSpace(strings.ReplaceAll(command.PlainWords(err.Error()), fmt.Sprintf("%q", path), ""))
}

// enqueue sends the pending conversations to the queue. A temporary failure is retried at the next scan.
func (w *watcher) enqueue(ctx context.Context) {
	if time.Now().Before(w.fullUntil) {
		return
	}
	for len(w.waiting) > 0 && ctx.Err() == nil {
		s := w.waiting[0]
		done, err := w.send(ctx, s.Conversation)
		switch {
		case errors.Is(err, client.ErrInvalid):
			_, _ = fmt.Fprintf(w.app.ErrOut, "session %s of %s is not enqueued: %s\n", command.ShownSession(s.Thread), command.Unbroken(s.File), command.OneLine(command.Reason(err), command.MaxErrorLine))
		case errors.Is(err, client.ErrFull):
			w.fullUntil = time.Now().Add(fullPause)
			w.complain("queue", command.OneLine(command.Reason(err), command.MaxErrorLine))
			return
		case err != nil:
			if ctx.Err() == nil {
				w.complain("queue", fmt.Sprintf("%s; %s: tried again", command.OneLine(command.Reason(err), command.MaxErrorLine), command.Plural(len(w.waiting), "session waits", "sessions wait")))
			}
			return
		default:
			delete(w.told, "queue")
			w.report(s, done)
		}
		w.waiting = w.waiting[1:]
		w.state.Enqueued(s, !w.waitsFor(s.File))
	}
}

func (w *watcher) send(ctx context.Context, c client.Conversation) (client.Enqueued, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return w.c.Enqueue(ctx, c)
}

// report prints a line about a session that was enqueued.
func (w *watcher) report(s watchstate.Session, done client.Enqueued) {
	if w.app.Output == command.OutputJSON {
		var object, line bytes.Buffer
		_ = command.Encode(&object, enqueuedSession{Session: s.Thread, File: s.File, Enqueued: done})
		_ = json.Compact(&line, bytes.TrimSpace(object.Bytes()))
		_, _ = fmt.Fprintln(w.app.Exact, line.String())
		return
	}
	_, _ = io.WriteString(w.app.Out, command.Unbroken(enqueuedText(command.ShownSession(s.Thread), done, false)+" ("+s.File+")")+"\n")
}

// complain prints a problem once as long as it persists.
func (w *watcher) complain(about, text string) {
	if w.told[about] {
		return
	}
	w.told[about] = true
	_, _ = fmt.Fprintln(w.app.ErrOut, command.Unbroken(text))
}
