package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/worker/payload"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

// check is one line of the doctor's report.
type check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Note string `json:"note"`
	// Mend is the remedy if OK is false.
	Mend string `json:"mend,omitempty"`
}

// startAll is the command that starts all servers.
const startAll = "start everything with: go run ./deploy/local up"

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "check every server, and name the remedy",
	}
	f := cmd.Flags()
	timeout := f.Duration("connect-timeout", doctorPatience, "how long each server may take to answer")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		a.cfg.ConnectTimeout = *timeout
		checks := a.diagnose(ctx)
		err := a.print(checks, func(w io.Writer) error {
			var b strings.Builder
			width := 0
			for _, c := range checks {
				width = max(width, len(c.Name))
			}
			for _, c := range checks {
				mark := "ok"
				if !c.OK {
					mark = "!!"
				}
				say(&b, "%s  %-*s  %s\n", mark, width, c.Name, c.Note)
				if !c.OK {
					say(&b, "   → %s\n", c.Mend)
				}
			}
			_, err := io.WriteString(w, b.String())
			return err
		})
		if err != nil {
			return err
		}
		bad := 0
		for _, c := range checks {
			if !c.OK {
				bad++
			}
		}
		if bad > 0 {
			return fmt.Errorf("%d of %d checks failed", bad, len(checks))
		}
		return nil
	})
}

func (a *app) diagnose(ctx context.Context) []check {
	ctx, cancel := context.WithTimeout(ctx, time.Minute+3*a.cfg.ConnectTimeout)
	defer cancel()
	checks := a.checkClickHouse(ctx)
	checks = append(checks, a.checkWeaviate(ctx)...)
	checks = append(checks, a.checkEmbedder(ctx))
	return append(checks, a.checkTemporal(ctx)...)
}

// bad returns a check that failed, with the remedy.
func bad(name string, err error, mend string) check {
	if errors.Is(err, settings.ErrInvalid) {
		mend = "correct that setting"
	}
	return check{Name: name, Note: reason(err), Mend: mend}
}

func (a *app) checkClickHouse(ctx context.Context) []check {
	logger, err := service.NewLogger(a.cfg)
	if err != nil {
		return []check{bad("clickhouse", err, "set --log-level")}
	}
	conn, err := service.ConnectClickHouse(ctx, a.cfg, logger)
	if err != nil {
		return []check{bad("clickhouse", err, startAll+", or set --clickhouse-dsn")}
	}
	defer func() { _ = conn.Close() }()
	version, err := conn.ServerVersion()
	if err != nil {
		return []check{bad("clickhouse", err, startAll)}
	}
	checks := []check{
		{Name: "clickhouse", OK: true, Note: fmt.Sprintf("%s at %s", version.Version, a.cfg.ClickHouseAddress())},
		checkMigrations(ctx, conn),
	}
	if !checks[1].OK {
		return checks
	}
	checks = append(checks, checkTables(ctx, conn))
	checks = append(checks, a.checkProjections(ctx, conn)...)
	checks = append(checks, a.checkInUse(ctx, conn), a.checkModel(ctx, conn))
	return append(checks, checkDreams(ctx, conn))
}

// checkModel reports the model of the latest build: only workers know the one in their settings.
func (a *app) checkModel(ctx context.Context, conn driver.Conn) check {
	runs, err := build.List(ctx, conn, build.Filter{All: true, Limit: 1})
	switch {
	case err != nil:
		return bad("model", err, "see the check of tables")
	case len(runs) == 0:
		return check{Name: "model", OK: true, Note: "there was no build yet"}
	}
	return check{Name: "model", OK: true, Note: a.modelNote(runs[0].ExtractorModel)}
}

// modelNote describes the model, PROVIDER/NAME, and names a better one if it is offline.
func (a *app) modelNote(model string) string {
	provider, _, _ := strings.Cut(model, "/")
	if llm.KeyVariable(provider) != "" {
		return model + " made the latest build"
	}
	advice := "for a better one: starter help configuration"
	for _, name := range llm.ModelProviders() {
		key := llm.KeyVariable(name)
		if key != "" && a.getenv(key) != "" && a.cfg.Embedder.Provider != name && a.getenv(settings.Variable("model-provider")) == "" {
			advice = fmt.Sprintf("%s is set but not used: start the worker with %s=%s", key, settings.Variable("model-provider"), name)
		}
	}
	return fmt.Sprintf("%s made the latest build (offline; %s)", model, advice)
}

// checkDreams looks for memories whose last dream was refused. They stay unchanged until a dream succeeds.
func checkDreams(ctx context.Context, conn driver.Conn) check {
	found, err := tier.NewTables(conn).Refused(ctx)
	switch {
	case err != nil:
		return bad("dreams", err, "see the check of tables")
	case found.Refused > 0:
		mend := []string{"dream", "show", "--user", found.User}
		if found.Agent != "" {
			mend = append(mend, "--agent", found.Agent)
		}
		return check{
			Name: "dreams", Mend: "see why: " + build.Command(mend...),
			Note: fmt.Sprintf("the last one was refused in %d of %s", found.Refused, plural(found.Memories, "memory", "memories")),
		}
	case found.Memories == 0:
		return check{Name: "dreams", OK: true, Note: "there was none yet"}
	}
	return check{Name: "dreams", OK: true, Note: plural(found.Memories, "memory", "memories") + ", the last one refused in none"}
}

// checkTables looks for dropped tables, which checkpoints do not reveal.
func checkTables(ctx context.Context, conn driver.Conn) check {
	missing, err := eventlog.MissingTables(ctx, conn)
	switch {
	case err != nil:
		return bad("tables", err, "see the check of clickhouse")
	case len(missing) > 0:
		return check{Name: "tables", Note: "not there: " + strings.Join(missing, ", "), Mend: "run: " + build.Command("rebuild")}
	}
	return check{Name: "tables", OK: true, Note: "all of the migrations are there"}
}

func checkMigrations(ctx context.Context, conn driver.Conn) check {
	state, err := eventlog.MigrationStatus(ctx, conn)
	switch {
	case err != nil:
		return bad("migrations", err, "use the worker's own version of the program, or another database")
	case len(state.Pending) > 0:
		return check{Name: "migrations", Note: fmt.Sprintf("%d to apply", len(state.Pending)), Mend: "start a worker: it migrates"}
	}
	return check{Name: "migrations", OK: true, Note: fmt.Sprintf("%d applied", len(state.Applied))}
}

func (a *app) checkWeaviate(ctx context.Context) []check {
	c, err := service.ConnectWeaviate(ctx, a.cfg)
	if err != nil {
		return []check{bad("weaviate", err, startAll+", or set --weaviate-url")}
	}
	version, err := c.Ready(ctx)
	if err != nil {
		return []check{bad("weaviate", err, startAll)}
	}
	words := check{Name: "keyword search", OK: true, Note: "finds an object just written"}
	if err := c.CheckKeywordSearch(ctx); err != nil {
		words = bad("keyword search", err, "start Weaviate with USE_INVERTED_SEARCHABLE=false")
	}
	return []check{{Name: "weaviate", OK: true, Note: fmt.Sprintf("%s at %s", version, a.cfg.WeaviateURL)}, words}
}

func (a *app) checkEmbedder(ctx context.Context) check {
	e, err := llm.NewEmbedder(ctx, a.cfg.Embedder)
	if err != nil {
		return bad("embedder", err, "set the variable or --embedder")
	}
	if _, err := e.EmbedQuery(ctx, "doctor"); err != nil {
		return bad("embedder", err, "set the variable or --embedder-url")
	}
	note := e.Version()
	if local, ok := e.(llm.LocalEmbedder); ok && local.Slow() != nil {
		note += ", several times slower than it could be: " + oneLine(local.Slow().Error(), 300)
	}
	if a.cfg.Embedder.Provider == llm.ProviderHash {
		note += ", which knows words and no meaning: --embedder local does"
		if _, err := llm.NewEmbedder(ctx, llm.EmbedderConfig{Provider: llm.ProviderLocal, Dir: a.cfg.Embedder.Dir}); err != nil {
			note += ", once go run ./deploy/local up has fetched it"
		}
	}
	return check{Name: "embedder", OK: true, Note: note}
}

func (a *app) checkTemporal(ctx context.Context) []check {
	logger, err := service.NewLogger(a.cfg)
	if err != nil {
		return []check{bad("temporal", err, "set --log-level")}
	}
	c, err := service.ConnectTemporal(ctx, a.cfg, logger)
	if err != nil {
		return []check{bad("temporal", err, startAll+", or set --temporal-address")}
	}
	defer c.Close()
	info, err := c.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return []check{bad("temporal", err, startAll)}
	}
	note := fmt.Sprintf("%s at %s, namespace %s", info.GetServerVersion(), a.cfg.TemporalAddress, a.cfg.TemporalNamespace)
	if ring, err := payload.Load(a.cfg.PayloadKeyFile); err == nil && ring.Encrypts() {
		note += ", payloads encrypted with key " + ring.KeyIDs()[0]
	}
	return []check{
		{Name: "temporal", OK: true, Note: note},
		a.checkAttributes(ctx, c),
		a.checkWorkers(ctx, c),
		checkSchedules(ctx, c),
	}
}

func (a *app) checkAttributes(ctx context.Context, c client.Client) check {
	missing, err := service.MissingSearchAttributes(ctx, c, a.cfg.TemporalNamespace)
	if err != nil {
		return bad("search attributes", err, "sessions still run, but cannot be filtered by project")
	}
	if len(missing) > 0 {
		return check{
			Name: "search attributes", Note: strings.Join(missing, ", ") + " missing",
			Mend: "start a worker: it registers them; or: temporal operator search-attribute create --type Keyword --name " + strings.Join(missing, " --type Keyword --name "),
		}
	}
	return check{Name: "search attributes", OK: true, Note: schema.AttributeProject + ", " + schema.AttributeSession}
}

// checkWorkers checks that a worker polls each task queue.
func (a *app) checkWorkers(ctx context.Context, c client.Client) check {
	var idle []string
	type polled struct {
		name string
		kind enums.TaskQueueType
	}
	queues := []polled{
		{schema.QueueMain, enums.TASK_QUEUE_TYPE_WORKFLOW},
		{schema.QueueModel, enums.TASK_QUEUE_TYPE_ACTIVITY},
		{schema.QueueVector, enums.TASK_QUEUE_TYPE_ACTIVITY},
	}
	note := "polls every queue; memory is switched off (no-queue): contexts are kept, and none is processed"
	if !a.cfg.NoQueue {
		note = "polls every queue"
		queues = append(queues, polled{schema.QueueMemory, enums.TASK_QUEUE_TYPE_WORKFLOW})
	}
	for _, q := range queues {
		d, err := c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: a.cfg.TemporalNamespace, TaskQueue: &taskqueue.TaskQueue{Name: q.name}, TaskQueueType: q.kind,
		})
		if err != nil {
			return bad("worker", err, startAll)
		}
		if len(d.GetPollers()) == 0 {
			idle = append(idle, q.name)
		}
	}
	switch {
	case len(idle) == 1 && idle[0] == schema.QueueMemory:
		return check{Name: "worker", Note: "memory is switched off in each worker: contexts are kept, and none is processed", Mend: "run a worker without --no-queue"}
	case len(idle) > 0:
		return check{Name: "worker", Note: "no worker polls " + strings.Join(idle, ", "), Mend: "run: go run ./worker"}
	}
	return check{Name: "worker", OK: true, Note: note}
}
