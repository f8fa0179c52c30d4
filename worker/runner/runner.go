// Package runner assembles the Temporal workers, with the activities of all rooms and with all that only they need: model
// clients, object stores and metrics.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"axiommind/activities/batch"
	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/derive"
	"axiommind/activities/entry"
	"axiommind/activities/erase"
	"axiommind/activities/evidence"
	"axiommind/activities/fact"
	"axiommind/activities/graduate"
	"axiommind/activities/llm"
	"axiommind/activities/llm/gemini/sdk"
	"axiommind/activities/projection"
	"axiommind/activities/queue"
	"axiommind/activities/queue/door"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/transcript"
	"axiommind/activities/vector"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
	"axiommind/worker/tracing"
	"axiommind/workflows"
)

// Run migrates the database, registers the search attributes and works until ctx ends. It then waits for running
// activities, up to the configured time. If the worker stops earlier, Run returns an error. ready is called once the
// worker polls. It may be nil.
func Run(ctx context.Context, cfg service.Config, logger *slog.Logger, ready func()) error {
	if err := checkQueues(&cfg); err != nil {
		return err
	}
	cfg.Model.Gemini = sdk.New
	model, err := llm.NewModel(ctx, cfg.Model)
	if err != nil {
		return fmt.Errorf("set up the model: %w", err)
	}
	raw, err := rawKeys(&cfg) // Before anything waits for a server.
	if err != nil {
		return err
	}
	telemetry := cfg.Telemetry("axiommind-worker", func(err error) { logger.Warn("traces or metrics are not sent", "reason", err) })
	traces, err := tracing.Start(ctx, telemetry)
	if err != nil { // The variables may be for another program.
		logger.Warn("no traces are sent", "reason", err)
	}
	defer traces.Close()
	cfg.TemporalTraces = traces.Interceptor()
	meters, err := newMeters(ctx, &cfg, telemetry, logger)
	if err != nil {
		return err
	}
	meters.watch(&cfg, logger)
	model = llm.Watched(model, meters.called)
	stores, err := service.Connect(ctx, cfg, weaviate.Open, logger)
	if err != nil {
		return err
	}
	defer stores.Close()
	defer meters.close()
	applied, err := clickhouse.Migrate(ctx, stores.ClickHouse)
	if err != nil {
		return err
	}
	for _, m := range applied {
		logger.Info("migrated", "version", m.Version, "name", m.Name)
	}
	follows, err := followEmbedder(ctx, stores, cfg, logger)
	if err != nil {
		return err
	}
	behind := checkProjections(ctx, stores, logger)
	if err := service.RegisterSearchAttributes(ctx, stores.Temporal, cfg.TemporalNamespace); err != nil {
		// People use them to filter. Everything else works without them.
		logger.Warn("search attributes are not registered", "reason", err)
	}
	copies := &stdinCopies{dir: cfg.State, read: map[string]string{}}
	access, err := sourceAccess(&cfg, raw, copies.ingested)
	if err != nil {
		return err
	}
	root, err := memoryRoot(ctx, &cfg)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	idris, err := idrisVersion(ctx, cfg, logger)
	if err != nil {
		return err
	}
	rooms, err := newRooms(stores, model, access, root, idris, cfg)
	if err != nil {
		return err
	}
	rooms.build.Ended = copies.ended
	if raw != nil {
		logger.Info("redacted originals are kept, encrypted", "key", raw.KeyID())
	}
	if follows {
		if err := chooseEmbedder(ctx, rooms.indexes, stores.Embedder, logger); err != nil {
			return err
		}
	}
	if err := meters.start(ctx, &cfg, database{stores.ClickHouse, rooms.indexes.Versions, time.Now}, logger); err != nil {
		return err
	}
	fatal := make(chan error, 1)
	workers := newWorkers(stores, cfg, rooms, fatal, logger)
	for i, w := range workers {
		if err := w.Start(); err != nil {
			stop(workers[:i])
			return fmt.Errorf("start worker: %w", err)
		}
	}
	logger.Info("worker is ready", "model", model.Identity().String(), "embedder", stores.Embedder.Version(),
		"temporal", cfg.TemporalAddress, "namespace", cfg.TemporalNamespace, "source_roots", access.Roots(), "idris2", idris)
	if err := rooms.indexes.WakePending(ctx); err != nil {
		// A session that waits for its vectors wakes the writer too.
		logger.Warn("the vector writer is not woken", "reason", err)
	}
	if ready != nil {
		ready()
	}
	go rooms.indexes.Follow(ctx, logger)
	if cfg.WeaviateIdle > 0 && serves(&cfg, schema.QueueVector) {
		go rooms.indexes.KeepIdle(ctx, cfg.WeaviateIdle, cfg.WeaviateIdleState, logger)
	}
	if cfg.BuildID != "" {
		go watchVersion(ctx, stores.Temporal, cfg, logger)
	}
	go hideCopies(ctx, stores.Log, logger)
	switch {
	case cfg.NoQueue:
		logger.Warn("memory is switched off (no-queue): contexts in queues are kept, and none is processed")
	case cfg.State != "":
		go door.Watch(ctx, door.Spool{Dir: cfg.State.Path(statedir.Outbox)}, stores.Temporal, door.DefaultWatch, logger)
	}
	go func() {
		catchUp(ctx, stores.Log, behind, rooms.indexes.WakePending, logger)
		if err := graduate.WakeWaiting(ctx, stores.ClickHouse, stores.Temporal); err != nil && ctx.Err() == nil {
			// The project's next session wakes it too.
			logger.Warn("graduation is not notified of waiting sessions", "reason", err)
		}
	}()
	var ended error
	select {
	case <-ctx.Done():
	case ended = <-fatal:
	}
	stop(workers)
	return ended
}

// idrisVersion returns the version of the compiler, which may be missing, and logs the consequences.
func idrisVersion(ctx context.Context, cfg service.Config, logger *slog.Logger) (string, error) {
	version, reason, err := graduate.CompilerVersion(ctx, cfg.Idris)
	switch {
	case err != nil:
		return "", fmt.Errorf("look for idris2: %w", err)
	case reason != "" && cfg.IdrisOnly:
		logger.Warn("no entry becomes verified: idris2 is needed for that", "reason", reason)
	case reason != "" && cfg.Idris != "":
		logger.Warn("the Go verifier checks entries alone", "reason", reason)
	}
	return version, nil
}

// stop stops all workers at once, so that together they take no longer than one.
func stop(workers []worker.Worker) {
	var wait sync.WaitGroup
	for _, w := range workers {
		wait.Go(w.Stop)
	}
	wait.Wait()
}

// hideEvery is how often a worker looks for copies of events to hide. There are none unless the database has failed.
const hideEvery = 24 * time.Hour

func hideCopies(ctx context.Context, log *projection.Store, logger *slog.Logger) {
	for {
		switch n, err := log.HideCopies(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			logger.Warn("the search for copies of events failed", "reason", err)
		case n > 0:
			logger.Warn("copies of events were hidden: the database does not deduplicate, or has forgotten earlier inserts",
				"copies", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(hideEvery):
		}
	}
}

// checkProjections logs the projections that need a rebuild, and returns those with a backlog.
func checkProjections(ctx context.Context, s *service.Stores, logger *slog.Logger) (behind []projection.Projector) {
	projectors := build.Projections(s.ClickHouse, s.Embedder.Version())
	standings, err := s.Log.ProjectionStatuses(ctx, projectors...)
	if err != nil {
		logger.Warn("projections are not checked", "reason", err)
	}
	for i, p := range standings {
		switch {
		case p.Stale():
			logger.Warn("sessions wait for a projection to be rebuilt", "projection", p.Name, "made_by_version", p.Stored,
				"program_version", p.Program, "run", build.Command("rebuild", p.Name))
		case strings.HasPrefix(p.Name, vector.OutboxPrefix) && p.Stored == 0:
			// A new embedder: everything is indexed for it in the background.
		case p.Behind > 0 && !p.Rebuilding:
			behind = append(behind, projectors[i])
		}
	}
	return behind
}

// catchUp applies events that a killed worker has not applied, or has applied without saving the offset. Nothing else
// would apply them, because a finished session is not read again. It then wakes the vector writer, which does not learn
// of these rows.
func catchUp(
	ctx context.Context, log *projection.Store, behind []projection.Projector, wake func(context.Context) error, logger *slog.Logger,
) {
	for _, p := range behind {
		if _, err := log.ProjectAll(ctx, p); err != nil && ctx.Err() == nil {
			logger.Warn("a projection stays behind the log", "projection", p.Name(), "reason", err)
		}
	}
	if len(behind) == 0 || ctx.Err() != nil {
		return
	}
	if err := wake(ctx); err != nil {
		logger.Warn("the vector writer is not woken", "reason", err)
	}
}

// rooms holds the activities of all packages.
type rooms struct {
	build      *build.Activities
	batch      *batch.Activities
	queue      *queue.Activities
	rebuild    *build.Rebuilds
	transcript *transcript.Activities
	llm        *llm.Activities
	evidence   *evidence.Activities
	entry      *entry.Activities
	derive     *derive.Activities
	task       *task.Activities
	fact       *fact.Activities
	tier       *tier.Activities
	graduate   *graduate.Activities
	vector     *vector.Activities
	indexes    *vector.Indexes
	// erase is nil if the worker may not erase.
	erase *erase.Activities
}

func newRooms(s *service.Stores, model llm.Model, access *transcript.Access, root *tier.Root, idris string, cfg service.Config) (*rooms, error) {
	indexes := service.NewIndexes(s, cfg)
	spec := schema.BuildSpec{
		Extractor: llm.ExtractorOf(model.Identity()), EmbedderModel: s.Embedder.Version(),
		EmbeddingVersion: s.Embedder.Version(), IdrisVersion: idris, SchemaVersion: schema.SchemaVersion,
	}
	r, errs := &rooms{indexes: indexes}, make([]error, 15)
	r.build, errs[0] = build.NewActivities(s.Log, s.ClickHouse, spec, build.Projections(s.ClickHouse, s.Embedder.Version()))
	r.transcript, errs[1] = transcript.NewActivities(s.Log.Store, access)
	r.llm, errs[2] = llm.NewActivities(s.Log.Store, model, cfg.ExtractionParams(), cfg.WindowBytes)
	r.evidence, errs[3] = evidence.NewActivities(s.Log.Store)
	r.entry, errs[4] = entry.NewActivities(s.Log.Store, s.ClickHouse)
	r.vector, errs[5] = vector.NewActivities(indexes)
	tasks := task.NewWriter(s.Log, s.ClickHouse, task.Rules{
		Vectors: vector.NewTitles(s.Weaviate, indexes), DoneReports: cfg.DoneReports,
	})
	r.task, errs[6] = task.NewActivities(s.Log, tasks, indexes.Enqueuers(false), s.Temporal)
	options := cfg.Facts
	options.Embedder = s.Embedder
	facts, err := fact.NewWriter(s.Log, s.ClickHouse, options)
	if err != nil {
		return nil, err
	}
	r.fact, errs[7] = fact.NewActivities(s.Log, facts, indexes.Enqueuers(false))
	zone, err := zone(&cfg)
	if err != nil {
		return nil, err
	}
	r.tier, errs[8] = tier.NewActivities(s.Log, s.ClickHouse, model, r.fact, s.Temporal, root, tier.Options{
		Zone: zone, Params: llm.Params{MaxOutputTokens: cfg.MaxOutputTokens}, WindowBytes: cfg.WindowBytes, Webhook: cfg.SummaryWebhook, Timing: cfg.Timing,
	})
	r.batch, errs[9] = batch.NewActivities(s.Log.Store)
	r.rebuild, errs[10] = build.NewRebuilds(s.ClickHouse, s.Log, s.Embedder.Version())
	r.graduate, errs[11] = graduate.NewActivities(s.Log, s.ClickHouse, model, s.Temporal, graduate.Options{
		Idris: cfg.Idris, IdrisOnly: cfg.IdrisOnly,
	})
	r.derive, errs[14] = derive.NewActivities(s.Log.Store, derive.Rooms{
		Log: s.Log.Store, Transcript: r.transcript, Build: r.build, Index: indexes.Enqueuers(true), LLM: r.llm, Entry: r.entry, Graduate: r.graduate,
	})
	r.queue, errs[12] = queue.NewActivities(s.Log.Store, s.ClickHouse)
	if s.Eraser != nil {
		r.erase, errs[13] = erase.NewActivities(erase.Stores{
			Log: s.Log, ClickHouse: s.ClickHouse, Eraser: s.Eraser, Temporal: s.Temporal, Namespace: cfg.TemporalNamespace, Root: root, Weaviate: s.Weaviate,
			Temps: cfg.State.Clear, KeyFile: cfg.State.Path(statedir.SourceKey), Unsigned: cfg.UnsignedErasures,
		})
	}
	return r, errors.Join(errs...)
}

// newWorkers returns one worker for each task queue that is served, so that a slow model does not delay the log. The error that ends
// one of them is sent to fatal.
func newWorkers(s *service.Stores, cfg service.Config, r *rooms, fatal chan<- error, logger *slog.Logger) []worker.Worker {
	onFatal := func(err error) {
		select {
		case fatal <- fmt.Errorf("run worker: %w", err):
		default:
		}
	}
	options := workerOptions(cfg)
	var workers []worker.Worker
	for queue, activities := range r.activities() {
		if !serves(&cfg, queue) {
			continue
		}
		o := paced(&cfg, queue, options[queue])
		o.WorkerStopTimeout, o.OnFatalError, o.DeploymentOptions = cfg.StopTimeout, onFatal, deploymentOptions(&cfg)
		o.StickyScheduleToStartTimeout = cfg.Timing.WithDefaults().Sticky
		o.Interceptors = []interceptor.WorkerInterceptor{
			&failures{logger: logger}, &handover{after: cfg.StopTimeout - handoverTime(cfg.StopTimeout)}, workflows.WithTiming(cfg.Timing),
		}
		w := worker.New(s.Temporal, queue, o)
		switch {
		case queue == schema.QueueMemory:
			workflows.RegisterQueue(w)
		case queue == schema.QueueMain && cfg.NoQueue:
			workflows.RegisterWithoutQueue(w)
		case queue == schema.QueueMain:
			workflows.Register(w) // A queue that was started by hand may be on this task queue.
		}
		for _, room := range activities {
			w.RegisterActivity(room)
		}
		workers = append(workers, w)
	}
	return workers
}

// workerOptions are the options of the workers that differ by task queue.
func workerOptions(cfg service.Config) map[string]worker.Options {
	return map[string]worker.Options{
		schema.QueueMain:   {},
		schema.QueueMemory: {LocalActivityWorkerOnly: true}, // Its other activities name a task queue of their own.
		// An abandoned call costs money until a heartbeat reports the cancellation.
		schema.QueueModel: {
			DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: cfg.ModelConcurrency,
			MaxHeartbeatThrottleInterval: boundary.HeartbeatInterval(cfg.Timing.WithDefaults().Heartbeat),
			TaskQueueActivitiesPerSecond: cfg.ModelRate,
		},
		schema.QueueVector: {DisableWorkflowWorker: true},
		schema.QueueErase:  {DisableWorkflowWorker: true},
	}
}

// activities returns, by task queue, the activities that its worker runs.
func (r *rooms) activities() map[string][]any {
	out := map[string][]any{
		schema.QueueMain:   {r.build, r.rebuild, r.batch, r.queue, r.transcript, r.llm, r.evidence, r.entry, r.derive, r.task, r.fact, r.tier, r.graduate},
		schema.QueueModel:  {r.llm, r.tier, r.graduate},
		schema.QueueVector: {r.vector},
		schema.QueueMemory: {r.queue},
	}
	if r.erase != nil {
		out[schema.QueueErase] = []any{r.erase}
	}
	return out
}
