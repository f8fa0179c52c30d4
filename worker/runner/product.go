package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"axiommind/activities/llm"
	"axiommind/schema"
)

// product counts the outcomes of the product's work, by the events that this worker appends to the log.
type product struct {
	builds, windows, entries, dreams, dreamItems, erasures metric.Int64Counter
	buildTime, erasureTime                                 metric.Float64Histogram
	calls, tokens                                          metric.Float64Histogram
	cost                                                   metric.Float64Counter

	mu sync.Mutex
	// erasing has the time at which each erasure began that this worker began.
	erasing map[string]time.Time
}

// Values of attributes.
const (
	windowAnswered, windowCut, windowQuarantined  = "answered", "cut", "quarantined"
	itemGrounded, itemUngrounded                  = "grounded", "ungrounded"
	erasureComplete, erasureLeft, erasureStranded = "complete", "left", "failed"
)

func newProduct(meter metric.Meter) (*product, error) {
	i := &instruments{Meter: meter}
	p := &product{
		builds:      i.counter("axiommind_builds", "Builds of sessions that ended, by status, and failed ones by the class of the failure."),
		windows:     i.counter("axiommind_windows", "Windows of sessions that a model read: answered, cut (the answer broke off) or quarantined."),
		entries:     i.counter("axiommind_entries", "Extracted entries whose quotes were judged: proven is true if all their evidence proves."),
		dreams:      i.counter("axiommind_dreams", "Dreams that ended, by status."),
		dreamItems:  i.counter("axiommind_dream_items", "Items of dreams' versions of core memory: grounded in a source, or ungrounded and dropped."),
		erasures:    i.counter("axiommind_erasures", "Erasures that ended: complete, with something left, or failed."),
		buildTime:   i.histogram("axiommind_build_duration", "s", "Time from the first step of a build to its end.", seconds...),
		erasureTime: i.histogram("axiommind_erasure_duration", "s", "Time of an erasure, if this worker began it too.", seconds...),
		calls:       i.histogram("gen_ai.client.operation.duration", "s", "Time of a call of a model.", seconds...),
		tokens: i.histogram("gen_ai.client.token.usage", "{token}", "Tokens of a call of a model.",
			1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576),
		erasing: map[string]time.Time{},
	}
	cost, err := meter.Float64Counter("axiommind_model_cost_usd", metric.WithDescription("Cost of calls of models in US dollars, if prices are set."))
	i.errs = append(i.errs, err)
	p.cost = cost
	if err := i.err(); err != nil {
		return nil, err
	}
	p.zero()
	return p, nil
}

// zero adds the counters of outcomes that have not come yet. A rate of a counter that appears with its first failure misses it.
func (p *product) zero() {
	for _, status := range []schema.BuildStatus{schema.BuildSuccess, schema.BuildPartial, schema.BuildEmpty} {
		add(p.builds, 0, buildOutcome(status, "")...)
	}
	for _, class := range schema.FailureClasses() {
		add(p.builds, 0, buildOutcome(schema.BuildFailed, class)...)
	}
	for _, outcome := range []string{windowAnswered, windowCut, windowQuarantined} {
		add(p.windows, 0, outcomeOf(outcome))
	}
	for _, proven := range []bool{true, false} {
		add(p.entries, 0, attribute.Bool("proven", proven))
	}
	for _, status := range []schema.DreamStatus{schema.DreamCommitted, schema.DreamUnchanged, schema.DreamIsRefused} {
		add(p.dreams, 0, attribute.String("status", string(status)))
	}
	for _, outcome := range []string{itemGrounded, itemUngrounded} {
		add(p.dreamItems, 0, outcomeOf(outcome))
	}
	for _, outcome := range []string{erasureComplete, erasureLeft, erasureStranded} {
		add(p.erasures, 0, outcomeOf(outcome))
	}
}

func add(c metric.Int64Counter, n int, attributes ...attribute.KeyValue) {
	c.Add(context.Background(), int64(n), metric.WithAttributes(attributes...))
}

func outcomeOf(outcome string) attribute.KeyValue { return attribute.String("outcome", outcome) }

func buildOutcome(status schema.BuildStatus, class schema.FailureClass) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("status", string(status)), attribute.String("class", string(class))}
}

// appended counts the outcomes that the events record.
func (p *product) appended(events []schema.Event) {
	for _, e := range events {
		switch e.Type {
		case schema.BuildFinished:
			count(e, p.build)
		case schema.MemoryExtracted:
			count(e, p.window)
		case schema.EvidenceAligned:
			count(e, p.judged)
		case schema.DreamFinished:
			count(e, func(_ schema.Event, d schema.DreamFinishedPayload) {
				add(p.dreams, 1, attribute.String("status", string(d.Status)))
				p.dropped(d.Dropped)
			})
		case schema.CoreCommitted:
			count(e, p.version)
		case schema.ErasureBegun:
			count(e, p.erasureBegun)
		case schema.ErasureFinished:
			count(e, p.erasureEnded)
		}
	}
}

// count passes the payload on. The log has checked it.
func count[P any](e schema.Event, to func(schema.Event, P)) {
	if payload, err := schema.Decode[P](e); err == nil {
		to(e, payload)
	}
}

func (p *product) build(e schema.Event, b schema.BuildFinishedPayload) {
	class := schema.FailureClass("")
	if b.Status == schema.BuildFailed {
		class = schema.ClassOf(b.ErrorType)
	}
	of := buildOutcome(b.Status, class)
	add(p.builds, 1, of...)
	if len(b.Metrics) > 0 {
		p.buildTime.Record(context.Background(), since(b.Metrics[0].StartedAt, e.TS), metric.WithAttributes(of[:1]...))
	}
}

func (p *product) window(_ schema.Event, w schema.MemoryExtractedPayload) {
	outcome := windowAnswered
	switch {
	case w.Quarantined != "":
		outcome = windowQuarantined
	case w.Truncated:
		outcome = windowCut
	}
	add(p.windows, 1, outcomeOf(outcome))
}

func (p *product) judged(_ schema.Event, a schema.EvidenceAlignedPayload) {
	for _, entry := range a.Entries {
		add(p.entries, 1, attribute.Bool("proven", entry.EvidenceProven))
	}
}

func (p *product) version(_ schema.Event, c schema.CoreCommittedPayload) {
	if c.Origin == schema.OriginDream {
		add(p.dreamItems, len(c.Items), outcomeOf(itemGrounded))
		p.dropped(c.Dropped)
	}
}

func (p *product) dropped(items []schema.DroppedItem) {
	for _, item := range items {
		if item.Reason == schema.DroppedUngrounded {
			add(p.dreamItems, 1, outcomeOf(itemUngrounded))
		}
	}
}

func (p *product) erasureBegun(e schema.Event, b schema.ErasureBegunPayload) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erasing[b.ErasureID] = e.TS
}

func (p *product) erasureEnded(e schema.Event, f schema.ErasureFinishedPayload) {
	outcome := erasureComplete
	switch {
	case f.Failed != "":
		outcome = erasureStranded
	case f.Left > 0:
		outcome = erasureLeft
	}
	add(p.erasures, 1, outcomeOf(outcome))
	p.mu.Lock()
	defer p.mu.Unlock()
	if begun, known := p.erasing[f.ErasureID]; known {
		p.erasureTime.Record(context.Background(), since(begun, e.TS), metric.WithAttributes(outcomeOf(outcome)))
		delete(p.erasing, f.ErasureID)
	}
}

// called counts a call of a model.
func (m *meters) called(ctx context.Context, c llm.Called) {
	if m == nil {
		return
	}
	of := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", c.Provider),
		attribute.String("gen_ai.request.model", c.Model),
	}
	failed := ""
	if known := (*llm.Error)(nil); errors.As(c.Err, &known) {
		failed = string(known.Kind)
	} else if c.Err != nil {
		failed = "other"
	}
	p := m.product
	p.calls.Record(ctx, c.Took.Seconds(), metric.WithAttributes(append(of, attribute.String("error.type", failed))...))
	for kind, n := range map[string]int{"input": c.Usage.InputTokens, "output": c.Usage.OutputTokens + c.Usage.ThoughtTokens} {
		p.tokens.Record(ctx, float64(n), metric.WithAttributes(append(of, attribute.String("gen_ai.token.type", kind))...))
	}
	cost := 0.0
	if c.CostUSD != nil {
		cost = *c.CostUSD
	}
	p.cost.Add(ctx, cost, metric.WithAttributes(of[1:]...))
}
