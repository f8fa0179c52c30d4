package main

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/retrieve"
	"axiommind/schema"
)

// usageTimeout bounds how long a command that has answered may go on to note what it returned.
const usageTimeout = 2 * time.Second

// retrieved notes which entries the command returned, unless a person does not want that. The answer is there already:
// that something is not noted is no failure of the command.
func (a *app) retrieved(ctx context.Context, conn driver.Conn, by schema.Retrieval, returned map[schema.Scope][]string) {
	if a.cfg.NoUsage {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, usageTimeout)
	defer cancel()
	log, request, now := eventlog.New(conn, eventlog.Options{}), uuid.NewString(), time.Now().UTC()
	var group errgroup.Group
	for scope, ids := range returned {
		group.Go(func() error {
			return graduate.RecordRetrieved(ctx, log, conn, graduate.Retrieved{
				Scope: scope, RequestID: request, By: by, EntryIDs: ids, At: now, Actor: actor(),
			})
		})
	}
	if err := group.Wait(); err != nil {
		if logger, wrong := a.waitLogger(); wrong == nil {
			logger.Debug("it is not noted which memories were returned", "reason", err)
		}
	}
}

// idsOf are the entries of a search's hits, those of other sessions included, of the user that was searched.
func idsOf(q retrieve.Query, hits []retrieve.Hit) map[schema.Scope][]string {
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.ID)
		for _, s := range h.Sessions {
			ids = append(ids, s.EntryID)
		}
	}
	return map[schema.Scope][]string{{Project: q.Project, User: q.User, Agent: q.Agent}: ids}
}
