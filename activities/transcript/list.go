package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"axiommind/activities/batch"
	"axiommind/activities/boundary"
	"axiommind/activities/text"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// ListSessions lists the sessions of a directory, or of a file that holds several, as the items of a batch. Files come
// in the order of their paths, sessions in the order of their file. An unreadable file becomes a refused item; a file
// that is no transcript is passed over. A file given by name must be a transcript.
func (a *Activities) ListSessions(ctx context.Context, in batch.ListInput[schema.ImportSessionsInput]) (batch.Listed, error) {
	return boundary.Run(ctx, in, a.listSessions)
}

func (a *Activities) listSessions(ctx context.Context, in batch.ListInput[schema.ImportSessionsInput]) (batch.Listed, error) {
	to, err := batch.List(ctx, a.log, in.Batch, in.At)
	if err != nil {
		return batch.Listed{}, err
	}
	if to.Done() {
		return to.Close(ctx)
	}
	l, err := a.access.lister(in.By)
	if err != nil {
		return batch.Listed{}, err
	}
	defer l.source.close()
	l.to, l.killed = to, in.Killed
	if err := l.list(ctx, parseListCursor(to.Cursor())); err != nil {
		return batch.Listed{}, err
	}
	return to.Close(ctx)
}

// listed receives the sessions that a lister finds. It is a [batch.Lister].
type listed interface {
	Add(ctx context.Context, item schema.BatchItem, cursor string) error
	PassOver(ctx context.Context, p schema.PassedOver, cursor string) error
	Flush(ctx context.Context) error
}

// MaxKills is how many workers may die while they read a source.
const MaxKills = 3

// lister lists the sessions of a source: a directory or a file.
type lister struct {
	access *Access
	in     schema.ProcessSessionInput
	// path is the source's as it was given, and source where it leads.
	path   string
	source *handle
	to     listed
	// killed is how many workers have died while they listed the source. After the first one each file is stored as soon as it
	// is listed, so that the next attempt begins with the file at fault. After every third one that file is refused.
	killed int
	// links holds the files that have several names, by their identities.
	links map[string]string
	// granted says that a person gave the source.
	granted bool
}

// lister returns the lister of the input's source, if the input may name it.
func (a *Access) lister(in schema.ImportSessionsInput) (*lister, error) {
	path, err := absolutePath(in.URI)
	if err != nil {
		return nil, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	source, err := a.resolve(path, in.Source())
	var refused *forbidden
	switch {
	case errors.As(err, &refused):
		return nil, err
	case err != nil:
		return nil, boundary.Invalid(schema.ErrorSourceUnreadable, fmt.Errorf("list sessions: %w", err))
	}
	return &lister{
		access: a, in: in.Source(), path: path, source: source, links: map[string]string{}, granted: a.granted(source.path, in.Source()),
	}, nil
}

// listCursor is a place in a list: a file below the directory, and the session of it that was listed last. The file is
// done if there is no session.
type listCursor struct{ file, session string }

func (c listCursor) String() string {
	if c.session == "" {
		return strconv.QuoteToASCII(c.file)
	}
	return strconv.QuoteToASCII(c.file) + " " + strconv.QuoteToASCII(c.session)
}

func parseListCursor(text string) (c listCursor) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return listCursor{} // It is the beginning.
	}
	c.file, _ = strconv.Unquote(quoted)
	c.session, _ = strconv.Unquote(strings.TrimPrefix(text[len(quoted):], " "))
	return c
}

// covers reports whether the file has been listed.
func (c listCursor) covers(file string) bool {
	if c.file == "" {
		return false
	}
	order := comparePaths(file, c.file)
	return order < 0 || order == 0 && c.session == ""
}

// list lists the sessions after the cursor.
func (l *lister) list(ctx context.Context, after listCursor) error {
	suspect := l.killed > 0 && l.killed%MaxKills == 0
	if !l.source.info.IsDir() {
		if suspect {
			return errKilled
		}
		_, err := l.add(ctx, "", after.session)
		return err
	}
	root, err := l.source.openRoot()
	if err != nil {
		return boundary.Invalid(schema.ErrorSourceUnreadable, fmt.Errorf("list sessions of directory %q: %w", l.path, err))
	}
	defer func() { _ = root.Close() }()
	w := walk{root: root, path: l.source.path, done: after.covers}
	w.skipped = func(file string, info fs.FileInfo) { l.known(file, info) }
	w.visit = func(file string, info fs.FileInfo, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		session := ""
		if file == after.file {
			session = after.session
		}
		if suspect && err == nil && info.Mode().IsRegular() {
			suspect, err = false, errKilled
		}
		if err = l.visit(ctx, file, info, err, session); err == nil && l.killed > 0 {
			err = l.to.Flush(ctx)
		}
		return err
	}
	return w.run()
}

// errKilled is the refusal of a file that workers died with.
var errKilled = boundary.Invalid(schema.ErrorSourceKills, fmt.Errorf("%d workers died while they read it: split it, or leave it out", MaxKills))

// visit lists one file of the walk.
func (l *lister) visit(ctx context.Context, file string, info fs.FileInfo, err error, after string) error {
	path, cursor := filepath.Join(l.path, file), listCursor{file: file}.String()
	passOver := func(reason string) error {
		return l.to.PassOver(ctx, schema.PassedOver{Name: path, Reason: reason}, cursor)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return passOver("is gone")
	case err != nil:
		return l.refuse(ctx, file, err)
	case info.IsDir():
		return passOver("is of the system: its files are never read")
	case info.Mode()&fs.ModeSymlink != 0:
		return passOver("is " + KindOf(info.Mode()) + ", which is not followed; give it by name")
	case !info.Mode().IsRegular():
		return passOver("is " + KindOf(info.Mode()))
	}
	if first := l.known(file, info); first != "" && first != file {
		return passOver("is the same file as " + filepath.Join(l.path, first))
	}
	found, err := l.add(ctx, file, after)
	var never *forbidden
	switch {
	case found || err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, ErrUnknownFormat) && l.in.Format == "":
		return passOver(unknownFormat)
	case errors.Is(err, ErrUnknownFormat), errors.Is(err, ErrNotTranscript):
		return passOver(reasonOf(err, path))
	case errors.Is(err, fs.ErrNotExist):
		return passOver("is gone")
	case errors.As(err, &never):
		return passOver(never.reason)
	}
	return l.refuse(ctx, file, err)
}

// unknownFormat is short, because a directory may hold many such files: the names of all formats are for a file that is
// given alone.
const unknownFormat = "cannot tell the format; if it is a transcript, give it by name with --format"

// known returns the first name of a file that has several.
func (l *lister) known(file string, info fs.FileInfo) (first string) {
	id, several := identity(info)
	if !several {
		return ""
	}
	if first, ok := l.links[id]; ok {
		return first
	}
	l.links[id] = file
	return file
}

// refuse lists a file that cannot be read.
func (l *lister) refuse(ctx context.Context, file string, err error) error {
	path, failure := filepath.Join(l.path, file), schema.ErrorSourceUnreadable
	var known boundary.Failure
	if errors.As(err, &known) {
		failure = known.FailureType()
	}
	item := schema.BatchItem{Name: path, Refused: reasonOf(err, path), RefusedType: failure}
	item.Input = l.in
	item.Input.Grant = ""
	if uri, err := FileURI(path); err == nil {
		item.Input.URI = uri
	}
	return l.to.Add(ctx, item, listCursor{file: file}.String())
}

// add lists the sessions of a file after the one with the id. It has found them once the file is read: an error is then
// none of the file.
func (l *lister) add(ctx context.Context, file, after string) (found bool, err error) {
	in := l.in
	path, uri := l.path, in.URI
	if file != "" {
		path = filepath.Join(l.path, file)
		if uri, err = FileURI(path); err != nil {
			return false, err
		}
	}
	in.URI, in.Grant = uri, ""
	sessions, source, err := readSource(ctx, uri, format.Options{Format: in.Format, User: in.User}, func(path string) (*handle, error) {
		f, err := l.resolve(path)
		if err == nil {
			in.Grant, err = l.access.grantBelow(f, in, l.granted)
		}
		return f, err
	})
	if err != nil {
		return false, err
	}
	first := 0
	for i, s := range sessions {
		if after != "" && markOf(s.ID) == after {
			first = i + 1
		}
	}
	for i, s := range sessions[first:] {
		item := schema.BatchItem{Name: path, Format: source.Format, Input: in}
		item.Input.SessionID = s.ID
		if err := item.Input.Key().Validate(); err != nil {
			item.Refused, item.RefusedType = err.Error(), schema.ErrorInvalidInput
			item.Input.SessionID = begins(s.ID)
		} else if reason := LeftOut(s, source.Format, in.Format, func() (schema.Source, error) {
			_, source, err := readSource(ctx, uri, format.Options{}, l.resolve)
			return source, err
		}); reason != "" {
			item.Refused, item.RefusedType = reason, schema.ErrorSourceUnreadable
		}
		cursor := listCursor{file, markOf(s.ID)}
		if first+i == len(sessions)-1 {
			cursor.session = ""
		}
		if err := l.to.Add(ctx, item, cursor.String()); err != nil {
			return true, err
		}
	}
	return true, nil
}

// markOf is how a cursor names a session: by its id, or by the hash of one that would fill a page.
func markOf(id string) string {
	if len(id) > schema.MaxNameBytes {
		return schema.HashParts(id)
	}
	return id
}

// begins returns an id that is no name because it is too long as far as people need it. It is still none.
func begins(id string) string { return text.Clip(id, schema.MaxNameBytes) }

// resolve finds a file of the source, and none that has come to lie outside.
func (l *lister) resolve(path string) (*handle, error) {
	f, err := resolveAnywhere(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !within(f.path, []string{l.source.path}):
		err = &forbidden{"has come to lead out of the directory: it is not followed"}
	case l.access.isSecret(f):
		err = &forbidden{"holds keys or passwords: such files are never read"}
	default:
		return f, nil
	}
	f.close()
	return nil, err
}

// LeftOut says why a source that is not empty gave no message of a session: every line was skipped, or the given format
// is wrong. It is empty when nothing is wrong. read reads the source with the format that it looks like.
func LeftOut(s *Session, is, given string, read func() (schema.Source, error)) string {
	switch {
	case len(s.Messages) > 0 || is == "":
		return ""
	case len(s.Skipped) > 0:
		return fmt.Sprintf("nothing of it can be read as %s; line %d: %s", is, s.Skipped[0].Line, s.Skipped[0].Reason)
	case given == "":
		return ""
	}
	source, err := read()
	switch {
	case err != nil || source.Format == "":
		return fmt.Sprintf("nothing of it can be read as %s", is)
	case source.Format != is:
		return fmt.Sprintf("nothing of it can be read as %s: it looks like %s", is, source.Format)
	}
	return ""
}

// reasonOf is the text of the error without the path, which the item names already.
func reasonOf(err error, path string) string {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err.Error()
	}
	text := err.Error()
	if _, rest, ok := strings.Cut(text, strconv.Quote(path)); ok {
		text = cmp.Or(strings.TrimPrefix(strings.TrimSpace(rest), ": "), text)
	}
	return text
}
