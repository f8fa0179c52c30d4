package graduate

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/graduate/pair"
	"axiommind/schema"
)

// WakeInput names the project whose graduation has pending sessions.
type WakeInput struct {
	Project string `json:"project"`
}

// WakeGraduation signals the writer of the project's graduation that a session has changed. It does not wait for the
// pass.
func (a *Activities) WakeGraduation(ctx context.Context, in WakeInput) error {
	_, err := boundary.Run(ctx, in, func(ctx context.Context, in WakeInput) (struct{}, error) {
		return struct{}{}, boundary.WriterOf(schema.GraduationInput{Project: in.Project}).Wake(ctx, a.temporal)
	})
	return err
}

// maxWoken bounds the projects to wake at once. The others are woken by their next session, or when a worker starts
// again.
const maxWoken = 1000

// WakeWaiting wakes the graduation of the projects with pending sessions. A worker may have been killed before it woke
// them, or the rules may have a newer version.
func WakeWaiting(ctx context.Context, conn clickhouse.Conn, c client.Client) error {
	var projects []string
	err := clickhouse.Query(ctx, conn, clickhouse.Column(&projects), `SELECT DISTINCT s.project FROM (
			SELECT project, stream, max(version) AS last FROM (
				SELECT project, stream, version FROM entries_raw
				UNION ALL
				SELECT project, stream, version FROM entry_changes_raw
				WHERE kind IN ('evidence', 'status', 'stage') AND startsWith(stream, ?)
			) GROUP BY project, stream
		) AS s
		LEFT JOIN (SELECT project, stream, seq, policy, rule, version FROM graduated_sessions_raw FINAL) AS g
			ON g.project = s.project AND g.stream = s.stream
		WHERE g.version = 0 OR s.last > g.seq OR g.policy < ? OR g.rule < ?
		ORDER BY s.project LIMIT ?`, schema.SessionPrefix, uint32(PolicyVersion), uint32(pair.Version), maxWoken)
	if err != nil {
		return fmt.Errorf("read which projects graduation has to consider: %w", err)
	}
	for _, project := range projects {
		if err := boundary.WriterOf(schema.GraduationInput{Project: project}).Wake(ctx, c); err != nil {
			return fmt.Errorf("wake the graduation of project %q: %w", project, err)
		}
	}
	return nil
}
