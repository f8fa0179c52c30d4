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
	// sessionCell is how much of a session's id a table shows, in characters.
	sessionCell = 40
	// maxSessions bounds the sessions among which one is looked for.
	maxSessions = 1000
)

// shownSession is a session's id as tables print it.
func shownSession(id string) string { return oneLine(id, sessionCell) }

// findSession returns the id of the session in the scope that --session names: the id itself, or else the only
// one that begins so, as it is or as tables print it. What names none stays as it is.
func findSession(ctx context.Context, conn driver.Conn, scope schema.SessionKey) (string, error) {
	return sessionAmong(ctx, conn, scope, false)
}

// findAnySession is findSession for upkeep: what is empty in the scope may be any.
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
	return "", usageError{named.Several(ids[:min(len(ids), table.MostPrefixed)])}
}

// knownSession refuses a session that there is not.
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

// asStored returns how much of the beginning of a printed id is the same in the id: up to what is written out or
// made one space.
func asStored(printed string) string {
	if end := strings.IndexAny(printed, "< \t"); end >= 0 {
		return printed[:end]
	}
	return printed
}
