package erase

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/tier"
	"axiommind/schema"
)

// filesTable records the last text that the program wrote to each file of a memory. It is no projection.
const filesTable = "memory_files_raw"

// lockedStreams returns the streams with the prefix that the erasure has changed.
func (a *Activities) lockedStreams(ctx context.Context, in Input, prefix string) ([]string, error) {
	stone, _, err := tombstoneOf(ctx, a.log.Store, in.ErasureID)
	if err != nil {
		return nil, err
	}
	locks, err := locksOf(ctx, a.log.Store, in.ErasureID)
	if err != nil {
		return nil, err
	}
	var out []string
	for stream, err := range a.log.Streams(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if locks.ever[eventlog.StreamHash(stone.Salt, stream.Name)] {
			out = append(out, stream.Name)
		}
	}
	return out, nil
}

// memories returns the memories whose streams the erasure has changed, and all memories of an erased user.
func (a *Activities) memories(ctx context.Context, in Input) ([]Memory, error) {
	streams, err := a.lockedStreams(ctx, in, schema.MemoryPrefix)
	if err != nil {
		return nil, err
	}
	var out []Memory
	for _, stream := range streams {
		if user, agent, err := schema.ParseMemoryStream(stream); err == nil {
			out = append(out, Memory{user, agent})
		}
	}
	if in.Kind() != schema.EraseUser {
		return out, nil
	}
	out = append(out, Memory{User: in.User})
	err = clickhouse.Query(ctx, a.conn, func(rows driver.Rows) error {
		var agent string
		err := rows.Scan(&agent)
		if agent != "" {
			out = append(out, Memory{in.User, agent})
		}
		return err
	}, `SELECT DISTINCT agent FROM `+filesTable+` WHERE root = ? AND user = ?`, a.root.URL(), in.User)
	return out, err
}

// syncFiles makes the writer of a memory record edits by people and write missing content. It reports whether there
// were edits.
func (a *Activities) syncFiles(ctx context.Context, in Input, m Memory) (edited bool, err error) {
	now := time.Now().UTC()
	update := boundary.Update{
		Name: schema.UpdateFiles, ID: fmt.Sprintf("files/%s/%d", in.ErasureID, now.UnixNano()),
		Arg: tier.FilesInput{User: m.User, Agent: m.Agent, At: now, All: true},
	}
	var result tier.FilesResult
	err = update.Send(ctx, a.temporal, &result)
	return result.Edited > 0, err
}

// FilesErased counts files.
type FilesErased struct {
	Files int `json:"files"`
	// At is the time of the deletion, by ClickHouse's clock.
	At time.Time `json:"at"`
}

// EraseFiles deletes the files of the memories that lost content, and the records of these files.
// [Activities.ResumeWriters] has them rewritten from the log.
func (a *Activities) EraseFiles(ctx context.Context, in Input) (FilesErased, error) {
	return boundary.Run(ctx, in, signed(a, a.eraseFiles))
}

func (a *Activities) eraseFiles(ctx context.Context, in Input) (out FilesErased, err error) {
	memories, err := a.memories(ctx, in)
	if err != nil {
		return out, err
	}
	x := eventlog.NewEraser(a.eraser, in.ErasureID)
	for _, m := range memories {
		paths, err := a.root.FilesOf(ctx, m.User, m.Agent)
		if err != nil {
			return out, err
		}
		for _, path := range paths {
			if err := a.root.Remove(ctx, path); err != nil {
				return out, err
			}
			out.Files++
		}
		if in.Kind() == schema.EraseUser {
			a.root.RemoveEmpty(m.User, m.Agent)
		}
		if err := x.DeleteRows(ctx, filesTable, "user = ? AND agent = ?", m.User, m.Agent); err != nil {
			return out, err
		}
	}
	out.At, err = x.Now(ctx)
	return out, err
}

// ResumeWriters has the files of the memories rewritten, and resumes the graduations that the erasure stopped.
func (a *Activities) ResumeWriters(ctx context.Context, in Input) error {
	_, err := boundary.Run(ctx, in, signed(a, a.resume))
	return err
}

func (a *Activities) resume(ctx context.Context, in Input) (none struct{}, err error) {
	memories, err := a.memories(ctx, in)
	if err != nil {
		return none, err
	}
	for _, m := range memories {
		if in.Kind() == schema.EraseUser && m.User == in.User {
			continue
		}
		if _, err := a.syncFiles(ctx, in, m); err != nil {
			return none, err
		}
	}
	graduations, err := a.lockedStreams(ctx, in, schema.GraduatePrefix)
	if err != nil {
		return none, err
	}
	for _, stream := range graduations {
		if project, err := schema.ParseGraduateStream(stream); err == nil {
			if err := boundary.WriterOf(schema.GraduationInput{Project: project}).Wake(ctx, a.temporal); err != nil {
				return none, err
			}
		}
	}
	return none, nil
}
