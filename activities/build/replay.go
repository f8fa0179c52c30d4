package build

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// ErrUnfinished is returned for a build that has no end to compare with.
var ErrUnfinished = errors.New("the build has not ended")

// Replayed is a build that was repeated from its recorded answers, with the differences.
type Replayed struct {
	Run
	// Windows counts the windows that were read again, and Answers the recorded answers to them.
	Windows int `json:"windows"`
	Answers int `json:"answers"`
	// Events and Rows count the compared events and rows of the build.
	Events int `json:"events"`
	Rows   int `json:"rows"`
	// Replaced counts the rows of the build that are not there any more, because a later event replaced them.
	Replaced int `json:"replaced,omitempty"`
	// Notes are the differences between this program and the one that ran the build.
	Notes       []string     `json:"notes"`
	Differences []Difference `json:"differences"`
	// NotCompared names the inputs and outputs of a build that a replay skips, because they depend on more than the
	// build.
	NotCompared []string `json:"not_compared"`
}

// notReplayed lists the parts that depend on more than the build.
func notReplayed() []string { return []string{"source", "tasks", "facts", "daily record", "vectors"} }

// Replay repeats the build with the id, or with the only id that begins so, in tables of its own: from the events that
// it began from, with the recorded answers, by the code of this program. It then compares the result with the log and
// the tables. No model is asked, and nothing else is changed.
func Replay(ctx context.Context, conn driver.Conn, id string) (Replayed, error) {
	run, err := Find(ctx, conn, id)
	if err != nil {
		return Replayed{}, err
	}
	log := projection.New(conn, eventlog.Options{})
	recorded, err := readRecording(ctx, log, run)
	if err != nil {
		return Replayed{}, err
	}
	scratch, done, err := openScratch(ctx, conn, run.BuildID)
	if err != nil {
		return Replayed{}, err
	}
	defer done()
	r := &replay{
		recording: recorded, home: conn, scratch: scratch, log: projection.New(scratch.Conn, eventlog.Options{}),
		result: Replayed{Run: run, Notes: []string{}, Differences: []Difference{}, NotCompared: notReplayed()},
	}
	if err := r.run(ctx); err != nil {
		return Replayed{}, fmt.Errorf("replay build %q: %w", run.BuildID, err)
	}
	return r.result, nil
}

// How often a replay marks its scratch database as in use, and when a database counts as the leftover of a killed
// program.
const (
	scratchUse  = time.Minute
	scratchLeft = 10 * scratchUse
	scratchDrop = time.Minute
)

// openScratch makes a scratch database, and drops leftovers. The returned function drops it, even if the context has
// ended.
func openScratch(ctx context.Context, conn driver.Conn, buildID string) (s *clickhouse.Scratch, done func(), err error) {
	if _, err := clickhouse.DropScratches(ctx, conn, clickhouse.PurposeReplay, scratchLeft); err != nil {
		return nil, nil, err
	}
	s, err = clickhouse.OpenScratch(ctx, conn, clickhouse.ScratchKey{Purpose: clickhouse.PurposeReplay, ID: buildID + "/" + rand.Text()})
	if err != nil {
		return nil, nil, err
	}
	using, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(scratchUse)
		defer ticker.Stop()
		for {
			select {
			case <-using.Done():
				return
			case <-ticker.C:
				_ = s.Use(using) // If it fails, the replay will, too.
			}
		}
	}()
	return s, func() {
		stop()
		<-stopped
		dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), scratchDrop)
		defer cancel()
		_ = s.Drop(dropping) // The next replay drops the leftovers.
	}, nil
}

// derived are the types of the events that a build makes of its session and of answers.
var derived = []string{
	schema.MemoryExtracted, schema.EvidenceAligned, schema.EntryMaterialized, schema.EntryEvidenceSet, schema.EntryStatusSet,
	schema.IdrisChecked, schema.EntriesPromoted,
}

// recording is a build as the log records it.
type recording struct {
	started  schema.BuildStartedPayload
	finished schema.BuildFinishedPayload
	// startedAt is the time of the start, and ended the event of the end.
	startedAt time.Time
	ended     schema.Event
	// events are the build's own events, in order, and windows the payloads of its extractions.
	events  []schema.Event
	windows []schema.MemoryExtractedPayload
	// before is the position before the first of the events, or of the end.
	before uint64
}

func readRecording(ctx context.Context, log *projection.Store, run Run) (recording, error) {
	var r recording
	options := eventlog.StreamOptions{Types: append([]string{schema.BuildStarted, schema.BuildFinished}, derived...)}
	for event, err := range log.Stream(ctx, run.Stream(), options) {
		if err != nil {
			return r, fmt.Errorf("read build %q: %w", run.BuildID, err)
		}
		if event.BuildID != run.BuildID {
			continue
		}
		if err := r.add(event); err != nil {
			return r, fmt.Errorf("read build %q: %w", run.BuildID, err)
		}
		if event.Type == schema.BuildFinished {
			return r, nil
		}
	}
	return r, fmt.Errorf("replay build %q: %w: there is nothing to compare with. Wait for it, or try it again with: %s",
		run.BuildID, ErrUnfinished, Command("builds", "retry", run.BuildID))
}

func (r *recording) add(event schema.Event) (err error) {
	if event.Type != schema.BuildStarted && r.before == 0 {
		r.before = event.Seq - 1
	}
	switch event.Type {
	case schema.BuildStarted:
		r.startedAt = event.TS
		r.started, err = schema.Decode[schema.BuildStartedPayload](event)
		return err
	case schema.BuildFinished:
		r.ended = event
		r.finished, err = schema.Decode[schema.BuildFinishedPayload](event)
		return err
	case schema.MemoryExtracted:
		p, err := schema.Decode[schema.MemoryExtractedPayload](event)
		if err != nil {
			return err
		}
		r.windows = append(r.windows, p)
	}
	r.events = append(r.events, event)
	return nil
}

// extractor is the extractor of the last window, or else the one that the build began with: an interrupted build may
// have continued with another one.
func (r *recording) extractor() schema.Extractor {
	if n := len(r.windows); n > 0 {
		return r.windows[n-1].Extractor
	}
	return r.started.Spec.Extractor
}

// ran reports whether the build did the step, if only in part.
func (r *recording) ran(step string) bool {
	at := slices.Index(resumableSteps, step)
	if r.started.Resumed != nil && at < slices.Index(resumableSteps, r.started.Resumed.Step) {
		return false
	}
	if r.brokeOffDeriving() {
		// It has stored all or nothing, unless the session was too long to be held.
		return step == schema.StepExtract || slices.ContainsFunc(r.events, func(e schema.Event) bool { return slices.Contains(eventsOf[step], e.Type) })
	}
	return r.finished.Status != schema.BuildFailed || at <= slices.Index(resumableSteps, r.finished.FailedStep)
}

// brokeOffDeriving reports whether the build failed in a step whose events are stored together with those of others.
func (r *recording) brokeOffDeriving() bool {
	return slices.Contains(derivedSteps, r.finished.FailedStep)
}

// eventsOf are the types of the events that a step makes of others.
var eventsOf = map[string][]string{
	schema.StepAlign:       {schema.EvidenceAligned},
	schema.StepMaterialize: {schema.EntryMaterialized, schema.EntryEvidenceSet, schema.EntryStatusSet},
	schema.StepCheck:       {schema.IdrisChecked, schema.EntriesPromoted},
}

// replay is a build that is done again in a scratch database.
type replay struct {
	recording
	home    driver.Conn
	scratch *clickhouse.Scratch
	// log is the log of the scratch database.
	log    *projection.Store
	result Replayed
	counts schema.BuildCounts
}

func (r *replay) run(ctx context.Context) error {
	if err := r.copyEvents(ctx); err != nil {
		return err
	}
	r.counts = r.finished.Counts
	r.note()
	if err := r.steps(ctx); err != nil {
		return err
	}
	if err := r.close(ctx); err != nil {
		return err
	}
	if err := r.compareEvents(ctx); err != nil {
		return err
	}
	return r.compareRows(ctx)
}

// note records the differences between this program and the one that ran the build.
func (r *replay) note() {
	then := r.extractor()
	now := llm.ExtractorOf(llm.ModelIdentity{Provider: then.Provider, Model: then.Model})
	if then.Provider == llm.ProviderRules {
		if now = llm.ExtractorOf(llm.OfflineModel(then.Model).Identity()); now.Model != then.Model {
			r.result.Notes = append(r.result.Notes, fmt.Sprintf(
				"the build was made with %s/%s, and this program computes the answers with %s/%s", then.Provider, then.Model, now.Provider, now.Model))
		}
	}
	if then.PromptHash != now.PromptHash {
		r.result.Notes = append(r.result.Notes, fmt.Sprintf(
			"the build asked with prompt %s (%s), and this program would ask with %s (%s): the recorded answers are those to the former",
			then.PromptVersion, then.PromptHash, now.PromptVersion, now.PromptHash))
	}
	if then.SchemaVersion != now.SchemaVersion {
		r.result.Notes = append(r.result.Notes, fmt.Sprintf("the build asked for schema %s, and this program for %s", then.SchemaVersion, now.SchemaVersion))
	}
	for _, e := range r.events {
		if p, err := schema.Decode[schema.EvidenceAlignedPayload](e); e.Type == schema.EvidenceAligned && err == nil && p.Rule != evidence.Rule {
			r.result.Notes = append(r.result.Notes, fmt.Sprintf(
				"the build judged evidence by rule of proof %d, and this program by rule %d", p.Rule, evidence.Rule))
			break
		}
	}
}

// steps does the steps again that the build did.
func (r *replay) steps(ctx context.Context) error {
	key := r.started.SessionKey
	entries := 0
	if r.ran(schema.StepExtract) {
		result, err := llm.Replay(ctx, r.log.Store, llm.ReplayInput{
			RecordInput: llm.RecordInput{SessionKey: key, BuildID: r.started.BuildID, At: r.startedAt}, Recorded: r.windows,
			Statement: r.started.Statement,
		})
		if err != nil {
			return err
		}
		entries = result.Entries
		r.read(result)
	}
	if r.ran(schema.StepAlign) && !r.endedEmpty(entries) {
		if err := r.align(ctx); err != nil {
			return err
		}
	}
	if r.ran(schema.StepMaterialize) && !r.endedEmpty(entries) {
		if err := r.materialize(ctx); err != nil {
			return err
		}
	}
	return r.check(ctx)
}

func (r *replay) materialize(ctx context.Context) error {
	activities, err := entry.NewActivities(r.log.Store, r.scratch.Conn)
	if err != nil {
		return err
	}
	made, err := activities.MaterializeEntries(ctx, entry.MaterializeInput{
		SessionKey: r.started.SessionKey, BuildID: r.started.BuildID, Builder: entry.Builder{Extractor: r.extractor(), At: r.startedAt},
	})
	if err != nil || r.brokeOffDeriving() {
		return err
	}
	c := &r.counts
	c.Entries, c.NewEntries, c.GainedEntries = made.Entries, made.New, made.Gained
	c.AlignedEntries, c.ProvenEntries, c.TaskNotes, c.Facts = made.Aligned, made.Proven, made.TaskNotes, made.Facts
	c.SupersededEntries, c.RestoredEntries = made.Superseded, made.Restored
	return nil
}

func (r *replay) align(ctx context.Context) error {
	_, err := evidence.AlignSession(ctx, r.log.Store, evidence.AlignInput{SessionKey: r.started.SessionKey, BuildID: r.started.BuildID, At: r.startedAt})
	return err
}

// read adds the result of reading the windows again.
func (r *replay) read(result llm.ReplayResult) {
	r.result.Windows = len(r.windows)
	rejected := 0
	for _, w := range r.windows {
		r.result.Answers += len(w.ResponseKeys)
		rejected += len(w.Rejected)
	}
	r.counts.Rejected += result.Rejected - rejected
	if result.Here != "" {
		r.result.Notes = append(r.result.Notes, "the answers are computed again: "+result.Here+" needs no model")
	}
	for _, w := range result.Moved {
		r.result.Differences = append(r.result.Differences, Difference{
			In: "windows", Key: windowText(w.Window), What: Changed,
			Fields: []FieldDifference{{Field: "hash of its messages", Recorded: w.Window.Hash, Replayed: w.Hash}},
		})
	}
}

// endedEmpty reports whether the build ended before it looked at evidence, because it extracted nothing.
func (r *replay) endedEmpty(entries int) bool {
	return r.finished.Status == schema.BuildEmpty && entries == 0 &&
		!slices.ContainsFunc(r.events, func(e schema.Event) bool { return e.Type == schema.EvidenceAligned })
}

// close ends the build as it ended, with the counts of the replay, and projects it.
func (r *replay) close(ctx context.Context) error {
	finished := r.finished
	finished.Counts = r.counts
	event, err := finished.Event(r.started.Project, r.ended.TS)
	if err != nil {
		return err
	}
	stream := r.started.Stream()
	if _, err := r.log.Append(ctx, stream, []schema.Event{event}); err != nil {
		return err
	}
	if err := r.log.ProjectEach(ctx, stream, []projection.Projector{entry.NewProjector(r.scratch.Conn), NewProjector(r.scratch.Conn)}); err != nil {
		return err
	}
	return r.log.SaveOffsets(ctx) // Before the database is dropped.
}
