package command

import (
	"context"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/schema"
	"axiommind/starter/client"
)

// NoBuilds is the text for an empty list. It repeats the filter.
func NoBuilds(f build.Filter) string {
	var b strings.Builder
	since := ""
	if !f.Since.IsZero() {
		since = When(f.Since)
	}
	for _, part := range []struct{ name, value string }{
		{" of session", f.SessionID}, {" in project", f.Project}, {" for user", f.User}, {" by agent", f.Agent}, {" with status", string(f.Status)},
		{" that failed with class", string(f.Class)}, {" since", since},
	} {
		if part.value != "" {
			Say(&b, "%s %s", part.name, part.value)
		}
	}
	if b.Len() == 0 {
		return "no builds yet; process a transcript with: starter process FILE"
	}
	return "no build" + b.String()
}

const (
	// SessionCell bounds a session's id in a table, in characters.
	SessionCell = 40
	// maxSessions bounds the sessions that are searched for an id.
	maxSessions = 1000
)

// ShownSession formats a session's id as tables print it.
func ShownSession(id string) string { return OneLine(id, SessionCell) }

// FindSession returns the id of the session in the scope that --session selects: the exact id, or the only id with that
// beginning, as stored or as tables print it. An unknown id is returned unchanged.
func FindSession(ctx context.Context, conn driver.Conn, scope schema.SessionKey) (string, error) {
	return sessionAmong(ctx, conn, scope, false)
}

// FindAnySession is FindSession for maintenance: an empty field of the scope matches any value.
func FindAnySession(ctx context.Context, conn driver.Conn, scope schema.SessionKey) (string, error) {
	return sessionAmong(ctx, conn, scope, true)
}

func sessionAmong(ctx context.Context, conn driver.Conn, scope schema.SessionKey, all bool) (string, error) {
	given := strings.TrimSuffix(scope.SessionID, "…")
	if len(given) < clickhouse.MinPrefix {
		return scope.SessionID, nil
	}
	f := build.Filter{Project: scope.Project, User: scope.User, Agent: scope.Agent, All: all, Limit: maxSessions}
	found, err := build.Values(ctx, conn, build.ColumnSession, asStored(given), f)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, v := range found {
		if v.Text == scope.SessionID {
			return v.Text, nil
		}
		if strings.HasPrefix(v.Text, given) || strings.HasPrefix(ShownSession(v.Text), given) {
			ids = append(ids, v.Text)
		}
	}
	switch len(ids) {
	case 0:
		return scope.SessionID, nil
	case 1:
		return ids[0], nil
	}
	named := clickhouse.Prefix{What: "session", Given: scope.SessionID}
	for i, id := range ids {
		ids[i] = Unbroken(id)
	}
	return "", BadUsage(named.Several(ids[:min(len(ids), clickhouse.MostPrefixed)]))
}

// KnownSession returns an error if the session does not exist.
func KnownSession(ctx context.Context, conn driver.Conn, q client.Query) error {
	if q.Session == "" {
		return nil
	}
	found, err := build.Values(ctx, conn, build.ColumnSession, q.Session, build.Filter{Project: q.Project, User: q.User, Agent: q.Agent, Limit: maxSessions})
	if err == nil && !slices.ContainsFunc(found, func(v build.Value) bool { return v.Text == q.Session }) {
		err = Missingf("--session %s: there is none of user %s in project %s", OneLine(q.Session, 200), OneLine(q.User, 200), OneLine(q.Project, 200))
	}
	return err
}

// asStored returns the part of a printed id that equals the stored id: it ends where characters were escaped or replaced by
// a space.
func asStored(printed string) string {
	if end := strings.IndexAny(printed, "< \t"); end >= 0 {
		return printed[:end]
	}
	return printed
}
