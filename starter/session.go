package main

import (
	"context"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/build"
	"axiommind/activities/table"
	"axiommind/schema"
	"axiommind/starter/client"
)

const (
	// sessionCell bounds a session's id in a table, in characters.
	sessionCell = 40
	// maxSessions bounds the sessions that are searched for an id.
	maxSessions = 1000
)

// shownSession formats a session's id as tables print it.
func shownSession(id string) string { return oneLine(id, sessionCell) }

// findSession returns the id of the session in the scope that --session selects: the exact id, or the only id with that
// beginning, as stored or as tables print it. An unknown id is returned unchanged.
func findSession(ctx context.Context, conn driver.Conn, scope schema.SessionKey) (string, error) {
	return sessionAmong(ctx, conn, scope, false)
}

// findAnySession is findSession for maintenance: an empty field of the scope matches any value.
func findAnySession(ctx context.Context, conn driver.Conn, scope schema.SessionKey) (string, error) {
	return sessionAmong(ctx, conn, scope, true)
}

func sessionAmong(ctx context.Context, conn driver.Conn, scope schema.SessionKey, all bool) (string, error) {
	given := strings.TrimSuffix(scope.SessionID, "…")
	if len(given) < table.MinPrefix {
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
		if strings.HasPrefix(v.Text, given) || strings.HasPrefix(shownSession(v.Text), given) {
			ids = append(ids, v.Text)
		}
	}
	switch len(ids) {
	case 0:
		return scope.SessionID, nil
	case 1:
		return ids[0], nil
	}
	named := table.Prefix{What: "session", Given: scope.SessionID}
	for i, id := range ids {
		ids[i] = unbroken(id)
	}
	return "", badUsage(named.Several(ids[:min(len(ids), table.MostPrefixed)]))
}

// knownSession returns an error if the session does not exist.
func knownSession(ctx context.Context, conn driver.Conn, q client.Query) error {
	if q.Session == "" {
		return nil
	}
	found, err := build.Values(ctx, conn, build.ColumnSession, q.Session, build.Filter{Project: q.Project, User: q.User, Agent: q.Agent, Limit: maxSessions})
	if err == nil && !slices.ContainsFunc(found, func(v build.Value) bool { return v.Text == q.Session }) {
		err = usagef("--session %s: there is none of user %s in project %s", oneLine(q.Session, 200), oneLine(q.User, 200), oneLine(q.Project, 200))
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
