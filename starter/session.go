package main

import (
	"context"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/build"
	"axiommind/activities/table"
	"axiommind/schema"
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
	given := strings.TrimSuffix(scope.SessionID, "…")
	if len(given) < table.MinPrefix {
		return scope.SessionID, nil
	}
	f := build.Filter{Project: scope.Project, User: scope.User, Agent: scope.Agent, Limit: maxSessions}
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

// asStored returns how much of the beginning of a printed id is the same in the id: up to what is written out or
// made one space.
func asStored(printed string) string {
	if end := strings.IndexAny(printed, "< \t"); end >= 0 {
		return printed[:end]
	}
	return printed
}
