package vector

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// IdleState is the state that Weaviate's tenants get when their projects were not used for a while. A write or a search
// makes a tenant active again.
type IdleState string

// The states. Inactive ones are on the disk alone, offloaded ones in a bucket, for which the server needs the module
// offload-s3.
const (
	IdleInactive  IdleState = "inactive"
	IdleOffloaded IdleState = "offloaded"
)

// statuses are Weaviate's names for them.
var statuses = map[IdleState]string{IdleInactive: "INACTIVE", IdleOffloaded: "OFFLOADED"}

// tenantsAtOnce is the most tenants that Weaviate changes by one request.
const tenantsAtOnce = 100

// idleEvery is how often a worker looks for idle projects.
const idleEvery = time.Hour

// KeepIdle sends the tenants of idle projects to rest until the context ends.
func (x *Indexes) KeepIdle(ctx context.Context, idle time.Duration, state IdleState, logger *slog.Logger) {
	for {
		n, err := x.Rest(ctx, idle, state)
		if ctx.Err() != nil {
			return
		}
		if n > 0 {
			logger.Info("tenants of idle projects are at rest", "tenants", n, "state", state)
		}
		if err != nil {
			logger.Warn("idle projects stay active in weaviate", "reason", err)
		}
		if !sleep(ctx, idleEvery) {
			return
		}
	}
}

// Rest changes the state of the active tenants whose projects have no event in the time, and returns their number. A collection
// that fails holds up no other one. A search leaves an event, unless usage is not noted.
func (x *Indexes) Rest(ctx context.Context, idle time.Duration, state IdleState) (int, error) {
	var projects []string
	err := clickhouse.Query(ctx, x.conn, clickhouse.Column(&projects), `SELECT project FROM events_raw WHERE project != ''
		GROUP BY project HAVING max(recorded_at) < now64(6) - toIntervalSecond(?)`, int64(idle.Seconds()))
	if err != nil || len(projects) == 0 {
		return 0, err
	}
	quiet := map[string]bool{}
	for _, project := range projects {
		quiet[schema.VectorTenant(project)] = true
	}
	versions, err := x.Versions(ctx)
	if err != nil {
		return 0, err
	}
	changed := 0
	var failed []error
	for _, version := range versions {
		for _, index := range schema.Indexes(version) {
			n, err := x.client.rest(ctx, schema.VectorCollection(index), quiet, statuses[state])
			changed += n
			failed = append(failed, err)
		}
	}
	return changed, errors.Join(failed...)
}

// tenant is a tenant and its state, as Weaviate lists it.
type tenant struct {
	Name           string `json:"name"`
	ActivityStatus string `json:"activityStatus"`
}

// rest changes the state of those of the tenants that are active.
func (c *Client) rest(ctx context.Context, collection string, which map[string]bool, status string) (int, error) {
	all, err := c.tenants(ctx, collection)
	if err != nil {
		return 0, err
	}
	all = slices.DeleteFunc(all, func(t tenant) bool {
		return !which[t.Name] || t.ActivityStatus != "ACTIVE" && t.ActivityStatus != "HOT"
	})
	if len(all) == 0 {
		return 0, nil
	}
	class, err := c.class(ctx, collection)
	if err != nil {
		return 0, err
	}
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	changed := 0
	var failed []error
	for chunk := range slices.Chunk(names, tenantsAtOnce) {
		if err := c.fail("change tenants", c.writer.SetTenants(ctx, class, chunk, status)); err != nil {
			failed = append(failed, err) // One tenant that is busy holds up its chunk alone.
			continue
		}
		changed += len(chunk)
	}
	return changed, errors.Join(failed...)
}

// tenants returns the collection's tenants. If there is no such collection, it returns none.
func (c *Client) tenants(ctx context.Context, collection string) ([]tenant, error) {
	class, err := c.class(ctx, collection)
	if err != nil {
		return nil, err
	}
	var tenants []tenant
	if err := c.request(ctx, "list tenants", http.MethodGet, classPath(class)+"/tenants", nil, &tenants); err != nil {
		// The server answers 422 for an unknown class.
		if exists, existsErr := c.exists(ctx, class); existsErr == nil && !exists {
			return nil, nil
		}
		return nil, err
	}
	return tenants, nil
}

// entryClass returns the definition of a class with the replicas of the client.
func (c *Client) entryClass(name string) schema.WeaviateClass {
	class := schema.EntryClass(name)
	if c.replicas > 1 {
		class.ReplicationConfig = &schema.WeaviateReplication{Factor: c.replicas}
	}
	return class
}
