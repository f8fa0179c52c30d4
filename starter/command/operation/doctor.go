package operation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/llm"
	"axiommind/activities/tier"
	"axiommind/activities/vector"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/dreams"
	"axiommind/worker/payload"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

func doctorCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "check every server, and name the remedy",
	}
	f := cmd.Flags()
	timeout := f.Duration("connect-timeout", command.DoctorPatience, "how long each server may take to answer")
	a.Answers(cmd, []command.Check{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		a.Cfg.ConnectTimeout = *timeout
		checks := diagnose(ctx, a)
		err := a.Print(checks, func(b *strings.Builder) {
			width := 0
			for _, c := range checks {
				width = max(width, len(c.Name))
			}
			for _, c := range checks {
				mark := "ok"
				if !c.OK {
					mark = "!!"
				}
				command.Say(b, "%s  %-*s  %s\n", mark, width, c.Name, c.Note)
				if !c.OK {
					command.Say(b, "   → %s\n", c.Mend)
				}
			}
		})
		if err != nil {
			return err
		}
		if bad := command.Count(checks, func(c command.Check) bool { return !c.OK }); bad > 0 {
			return fmt.Errorf("%d of %d checks failed", bad, len(checks))
		}
		return nil
	})
}

func diagnose(ctx context.Context, a *command.App) []command.Check {
	ctx, cancel := context.WithTimeout(ctx, time.Minute+3*a.Cfg.ConnectTimeout)
	defer cancel()
	checks := together(
		func() []command.Check { return checkClickHouse(ctx, a) },
		func() []command.Check { return checkWeaviate(ctx, a) },
		one(func() command.Check { return checkEmbedder(ctx, a) }),
		func() []command.Check { return checkTemporal(ctx, a) },
	)
	for i := range checks { // These name the memories of all users.
		checks[i].Everyone = checks[i].Name == "dreams" || checks[i].Name == "schedules"
	}
	return checks
}

// together makes checks at once, and returns them in their order.
func together(parts ...func() []command.Check) []command.Check {
	made := make([][]command.Check, len(parts))
	var wait sync.WaitGroup
	for i, part := range parts {
		wait.Go(func() {
			defer func() { // A panic in a goroutine of its own would end the server of the API.
				if fault := recover(); fault != nil {
					made[i] = []command.Check{command.FailedCheck("doctor", fmt.Errorf("a check has a fault: %v", fault), "report it, with the log")}
				}
			}()
			made[i] = part()
		})
	}
	wait.Wait()
	return slices.Concat(made...)
}

// one returns a check as a list.
func one(check func() command.Check) func() []command.Check {
	return func() []command.Check { return []command.Check{check()} }
}

func checkClickHouse(ctx context.Context, a *command.App) []command.Check {
	logger, err := service.NewLogger(a.Cfg)
	if err != nil {
		return []command.Check{command.FailedCheck("clickhouse", err, "set --log-level")}
	}
	conn, err := service.ConnectClickHouse(ctx, a.Cfg, logger)
	if err != nil {
		return []command.Check{command.FailedCheck("clickhouse", err, command.StartAll+", or set --clickhouse-dsn")}
	}
	defer func() { _ = conn.Close() }()
	version, err := conn.ServerVersion()
	if err != nil {
		return []command.Check{command.FailedCheck("clickhouse", err, command.StartAll)}
	}
	checks := []command.Check{
		{Name: "clickhouse", OK: true, Note: fmt.Sprintf("%s at %s", version.Version, a.Cfg.ClickHouseAddress())},
		checkMigrations(ctx, conn),
	}
	if !checks[1].OK {
		return checks
	}
	return append(checks, together(
		one(func() command.Check { return checkTables(ctx, conn) }),
		func() []command.Check { return checkProjections(ctx, a, conn) },
		one(func() command.Check { return checkInUse(ctx, a, conn) }),
		one(func() command.Check { return checkModel(ctx, a, conn) }),
		one(func() command.Check { return CheckDreams(ctx, conn) }),
	)...)
}

// checkModel reports the model of the latest build: only workers know the one in their settings.
func checkModel(ctx context.Context, a *command.App, conn driver.Conn) command.Check {
	runs, err := build.List(ctx, conn, build.Filter{All: true, Limit: 1})
	switch {
	case err != nil:
		return command.FailedCheck("model", err, "see the check of tables")
	case len(runs) == 0:
		return command.Check{Name: "model", OK: true, Note: "there was no build yet"}
	}
	return command.Check{Name: "model", OK: true, Note: ModelNote(a, runs[0].ExtractorModel)}
}

// ModelNote describes the model, PROVIDER/NAME, and names a better one if it is offline.
func ModelNote(a *command.App, model string) string {
	provider, _, _ := strings.Cut(model, "/")
	switch {
	case model == "":
		return "the latest build ended before its model was chosen"
	case provider != llm.ProviderRules:
		return model + " made the latest build"
	}
	advice := "for a better one: starter help configuration"
	for _, name := range llm.ModelProviders() {
		key := llm.KeyVariable(name)
		if key != "" && a.Getenv(key) != "" && a.Cfg.Embedder.Provider != name && a.Getenv(settings.Variable("model-provider")) == "" {
			advice = fmt.Sprintf("%s is set but not used: start the worker with %s=%s", key, settings.Variable("model-provider"), name)
			break
		}
	}
	return fmt.Sprintf("%s made the latest build (offline; %s)", model, advice)
}

// CheckDreams looks for memories whose last dream was refused. They stay unchanged until a dream succeeds.
func CheckDreams(ctx context.Context, conn driver.Conn) command.Check {
	found, err := tier.NewTables(conn).Refused(ctx)
	switch {
	case err != nil:
		return command.FailedCheck("dreams", err, "see the check of tables")
	case found.Refused > 0:
		mend := []string{"dream", "show", "--user", found.User}
		if found.Agent != "" {
			mend = append(mend, "--agent", found.Agent)
		}
		return command.Check{
			Name: "dreams", Mend: "see why: " + build.Command(mend...),
			Note: fmt.Sprintf("the last one was refused in %d of %s", found.Refused, command.Plural(found.Memories, "memory", "memories")),
		}
	case found.Memories == 0:
		return command.Check{Name: "dreams", OK: true, Note: "there was none yet"}
	}
	return command.Check{Name: "dreams", OK: true, Note: command.Plural(found.Memories, "memory", "memories") + ", the last one refused in none"}
}

// checkTables looks for dropped tables, which checkpoints do not reveal.
func checkTables(ctx context.Context, conn driver.Conn) command.Check {
	missing, err := clickhouse.MissingTables(ctx, conn)
	switch {
	case err != nil:
		return command.FailedCheck("tables", err, "see the check of clickhouse")
	case len(missing) > 0:
		return command.Check{Name: "tables", Note: "not there: " + strings.Join(missing, ", "), Mend: "run: " + build.Command("rebuild")}
	}
	return command.Check{Name: "tables", OK: true, Note: "all of the migrations are there"}
}

func checkMigrations(ctx context.Context, conn driver.Conn) command.Check {
	state, err := clickhouse.MigrationStatus(ctx, conn)
	switch {
	case err != nil:
		return command.FailedCheck("migrations", err, "use the worker's own version of the program, or another database")
	case len(state.Pending) > 0:
		return command.Check{Name: "migrations", Note: fmt.Sprintf("%d to apply", len(state.Pending)), Mend: "start a worker: it migrates"}
	}
	return command.Check{Name: "migrations", OK: true, Note: fmt.Sprintf("%d applied", len(state.Applied))}
}

func checkWeaviate(ctx context.Context, a *command.App) []command.Check {
	c, err := service.ConnectWeaviate(ctx, a.Cfg)
	if err != nil {
		return []command.Check{command.FailedCheck("weaviate", err, command.StartAll+", or set --weaviate-url")}
	}
	version, err := c.Ready(ctx)
	if err != nil {
		return []command.Check{command.FailedCheck("weaviate", err, command.StartAll)}
	}
	words := command.Check{Name: "keyword search", OK: true, Note: "finds an object just written"}
	if err := c.CheckKeywordSearch(ctx); err != nil {
		words = command.FailedCheck("keyword search", err, "start Weaviate with USE_INVERTED_SEARCHABLE=false")
	}
	return []command.Check{{Name: "weaviate", OK: true, Note: fmt.Sprintf("%s at %s", version, a.Cfg.WeaviateURL)}, words, checkVectors(ctx, a, c)}
}

// checkVectors looks for projects whose vectors Weaviate has lost. A search finds nothing of them, and does not say so.
func checkVectors(ctx context.Context, a *command.App, c *vector.Client) command.Check {
	const name = "vectors"
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return command.FailedCheck(name, err, "see the check of clickhouse")
	}
	indexes := Indexes(a, conn, c, vector.NoEmbedder(nil))
	choice, err := indexes.Now(ctx)
	switch {
	case err != nil:
		return command.FailedCheck(name, err, "see the check of clickhouse")
	case choice.Used == "":
		return command.Check{Name: name, OK: true, Note: "none yet"}
	}
	lost, projects, err := indexes.Lost(ctx, choice.Used)
	switch {
	case err != nil:
		return command.FailedCheck(name, err, "see the checks of clickhouse and weaviate")
	case len(lost) > 0:
		return command.Check{
			Name: name, Mend: "run: " + build.Command("reconcile"),
			Note: fmt.Sprintf("Weaviate has none of those of %d of %s, so searches do not find all: it may have lost its disk", len(lost), command.Plural(projects, "project", "projects")),
		}
	}
	return command.Check{Name: name, OK: true, Note: "those of " + command.Plural(projects, "project", "projects") + " are there"}
}

func checkEmbedder(ctx context.Context, a *command.App) command.Check {
	e, err := llm.NewEmbedder(ctx, a.Cfg.Embedder)
	if err != nil {
		return command.FailedCheck("embedder", err, "set the variable or --embedder")
	}
	if _, err := e.EmbedQuery(ctx, "doctor"); err != nil {
		return command.FailedCheck("embedder", err, "set the variable or --embedder-url")
	}
	note := e.Version()
	if local, ok := e.(llm.LocalEmbedder); ok && local.Slow() != nil {
		note += ", several times slower than it could be: " + command.OneLine(local.Slow().Error(), 300)
	}
	if a.Cfg.Embedder.Provider == llm.ProviderHash {
		note += ", which knows words and no meaning: --embedder local does"
		if _, err := llm.NewEmbedder(ctx, llm.EmbedderConfig{Provider: llm.ProviderLocal, Dir: a.Cfg.Embedder.Dir}); err != nil {
			note += ", once go run ./deploy/local up has fetched it"
		}
	}
	return command.Check{Name: "embedder", OK: true, Note: note}
}

func checkTemporal(ctx context.Context, a *command.App) []command.Check {
	logger, err := service.NewLogger(a.Cfg)
	if err != nil {
		return []command.Check{command.FailedCheck("temporal", err, "set --log-level")}
	}
	c, err := service.ConnectTemporal(ctx, a.Cfg, logger)
	if err != nil {
		return []command.Check{command.FailedCheck("temporal", err, command.StartAll+", or set --temporal-address")}
	}
	defer c.Close()
	info, err := c.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return []command.Check{command.FailedCheck("temporal", err, command.StartAll)}
	}
	note := fmt.Sprintf("%s at %s, namespace %s", info.GetServerVersion(), a.Cfg.TemporalAddress, a.Cfg.TemporalNamespace)
	if ring, err := payload.Load(a.Cfg.PayloadKeyFile); err == nil && ring.Encrypts() {
		note += ", payloads encrypted with key " + ring.KeyIDs()[0]
	}
	return []command.Check{
		{Name: "temporal", OK: true, Note: note},
		checkAttributes(ctx, a, c),
		checkWorkers(ctx, a, c),
		dreams.CheckSchedules(ctx, c),
	}
}

func checkAttributes(ctx context.Context, a *command.App, c client.Client) command.Check {
	missing, err := service.MissingSearchAttributes(ctx, c, a.Cfg.TemporalNamespace)
	if err != nil {
		return command.FailedCheck("search attributes", err, "sessions still run, but cannot be filtered by project")
	}
	if len(missing) > 0 {
		return command.Check{
			Name: "search attributes", Note: strings.Join(missing, ", ") + " missing",
			Mend: "start a worker: it registers them; or: temporal operator search-attribute create --type Keyword --name " + strings.Join(missing, " --type Keyword --name "),
		}
	}
	return command.Check{Name: "search attributes", OK: true, Note: schema.AttributeProject + ", " + schema.AttributeSession}
}

// checkWorkers checks that a worker polls each task queue.
func checkWorkers(ctx context.Context, a *command.App, c client.Client) command.Check {
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
	if !a.Cfg.NoQueue {
		note = "polls every queue"
		queues = append(queues, polled{schema.QueueMemory, enums.TASK_QUEUE_TYPE_WORKFLOW})
	}
	for _, q := range queues {
		d, err := c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: a.Cfg.TemporalNamespace, TaskQueue: &taskqueue.TaskQueue{Name: q.name}, TaskQueueType: q.kind,
		})
		if err != nil {
			return command.FailedCheck("worker", err, command.StartAll)
		}
		if len(d.GetPollers()) == 0 {
			idle = append(idle, q.name)
		}
	}
	switch {
	case len(idle) == 1 && idle[0] == schema.QueueMemory:
		return command.Check{Name: "worker", Note: "each worker has memory switched off or serves other task queues: contexts are kept, and none is processed", Mend: "run a worker without --no-queue and --task-queue"}
	case len(idle) > 0:
		return command.Check{Name: "worker", Note: "no worker polls " + strings.Join(idle, ", "), Mend: "run: go run ./worker"}
	}
	return command.Check{Name: "worker", OK: true, Note: note}
}
