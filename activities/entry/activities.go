package entry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
)

// Activities materializes entries.
type Activities struct {
	log    *eventlog.Store
	reader *Reader
}

// NewActivities returns the room's activities over the log. The connection reads the projection.
func NewActivities(log *eventlog.Store, conn driver.Conn) (*Activities, error) {
	if log == nil || conn == nil {
		return nil, errors.New("entry activities: an event log and a connection are needed")
	}
	return &Activities{log: log, reader: NewReader(conn)}, nil
}

// MaterializeInput names the session and the build.
type MaterializeInput struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
	// Builder decides which entries are active. Without one, statuses stay as they are.
	Builder Builder `json:"builder,omitzero"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// MaterializeResult counts the session's active entries, as its stream has them after the build.
type MaterializeResult struct {
	Entries int `json:"entries"`
	// New counts the entries that this build added, Aligned and Proven all entries with such evidence.
	New     int `json:"new"`
	Aligned int `json:"aligned"`
	Proven  int `json:"proven"`
	// Gained are the entries in the log that this build gave better evidence, of this session or another.
	Gained int `json:"gained"`
	// Superseded counts the entries that it no longer states, Restored the superseded ones that it states again.
	Superseded int `json:"superseded,omitempty"`
	Restored   int `json:"restored,omitempty"`
	// TaskNotes and Facts count the session's entries of these types. They are for the writers of the project's tasks and
	// of the user's memory.
	TaskNotes int `json:"task_notes,omitempty"`
	Facts     int `json:"facts,omitempty"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// MaterializeEntries appends the missing entries of every aligned extraction of the session. For entries in the log,
// the session's and others that state the same, it appends the newer or better judgements of their evidence.
func (a *Activities) MaterializeEntries(ctx context.Context, in MaterializeInput) (MaterializeResult, error) {
	stream := in.Stream()
	return boundary.Run(eventlog.WithHead(ctx, stream, in.Head), in, func(ctx context.Context, in MaterializeInput) (MaterializeResult, error) {
		result, err := a.materialize(ctx, in)
		result.Head = a.log.Head(stream)
		return result, err
	})
}

func (a *Activities) materialize(ctx context.Context, in MaterializeInput) (MaterializeResult, error) {
	p, err := a.plan(ctx, in)
	if err != nil {
		return MaterializeResult{}, err
	}
	appended, err := a.log.AppendAll(ctx, in.Stream(), p.events)
	if err != nil {
		return MaterializeResult{}, err
	}
	for i, event := range appended.Events {
		p.stream.done.count(event, p.gained[i])
	}
	return p.stream.result(), nil
}

// planned are the events that a build appends, and the stream as it will be afterwards.
type planned struct {
	events []schema.Event
	// gained names for each event the entry that it gives better evidence, or is empty.
	gained []string
	stream *sessionStream
}

func (a *Activities) plan(ctx context.Context, in MaterializeInput) (planned, error) {
	stream, err := a.read(ctx, in)
	if err != nil {
		return planned{}, err
	}
	made, err := a.session(ctx, in.SessionKey, stream.sources)
	if err != nil {
		return planned{}, err
	}
	all, err := statements(made, stream.sources)
	if err != nil {
		return planned{}, err
	}
	p := &planner{ledger: stream.ledger, session: in.SessionKey, buildID: in.BuildID}
	s := indexStatements(all)
	proven, err := p.plan(s)
	if err != nil {
		return planned{}, err
	}
	if err := p.supersede(s, stream.sources, in.Builder); err != nil {
		return planned{}, err
	}
	others, err := a.reader.unproven(ctx, in.SessionKey, proven)
	if err != nil {
		return planned{}, err
	}
	if err := p.shareEvidence(s, proven, others); err != nil {
		return planned{}, err
	}
	return planned{p.events, p.gained, stream}, nil
}

// session reads the session of the sources: its date, and the times of the messages that contain evidence.
func (a *Activities) session(ctx context.Context, key schema.SessionKey, sources []extraction) (Session, error) {
	s, err := session.Open(ctx, a.log, key)
	if err != nil {
		return Session{}, err
	}
	var found []int
	for i := range sources {
		for _, e := range sources[i].Aligned.Entries {
			for _, piece := range e.Evidence {
				if piece.Found {
					found = append(found, piece.MessageIndex)
				}
			}
		}
	}
	slices.Sort(found)
	times, err := s.Times(ctx, slices.Compact(found))
	if err != nil {
		return Session{}, err
	}
	return Session{SessionKey: key, Date: s.Date(), At: func(i int) time.Time { return times[i] }}, nil
}

// done is the work of the build with the id, including an interrupted attempt of it.
type done struct {
	buildID string
	entries int
	gained  map[string]bool
}

// count counts an event, which gave the entry that gained names better evidence.
func (d *done) count(event schema.Event, gained string) {
	switch {
	case event.BuildID != d.buildID:
	case event.Type == schema.EntryMaterialized:
		d.entries++
	case gained != "":
		d.gained[gained] = true
	}
}

// sessionStream is the part of a session's stream that its entries depend on.
type sessionStream struct {
	// sources pair each extraction with its alignment, in the order of extraction.
	sources []extraction
	ledger  *ledger
	done    done
}

func (s *sessionStream) result() MaterializeResult {
	r := MaterializeResult{New: s.done.entries, Gained: len(s.done.gained)}
	for _, h := range s.ledger.own() {
		active := h.entryStatus() == schema.StatusActive
		switch {
		case h.changedIn != s.done.buildID:
		case active:
			r.Restored++
		default:
			r.Superseded++
		}
		if !active {
			continue
		}
		_, j := h.effective()
		r.Entries++
		switch h.entry.Type {
		case schema.EntryTaskNote:
			r.TaskNotes++
		case schema.EntryFact:
			r.Facts++
		}
		if j.aligned {
			r.Aligned++
		}
		if j.proven {
			r.Proven++
		}
	}
	return r
}

func (a *Activities) read(ctx context.Context, in MaterializeInput) (*sessionStream, error) {
	s := &sessionStream{ledger: newLedger(), done: done{buildID: in.BuildID, gained: map[string]bool{}}}
	position := map[string]int{}
	options := eventlog.StreamOptions{Types: []string{
		schema.MemoryExtracted, schema.EvidenceAligned, schema.EntryMaterialized, schema.EntryEvidenceSet,
		schema.EntryStatusSet,
	}}
	for event, err := range a.log.Stream(ctx, in.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read extractions of session %q: %w", in.SessionID, err)
		}
		if err := s.add(event, position); err != nil {
			return nil, fmt.Errorf("read session %q: %w", in.SessionID, err)
		}
	}
	return s, nil
}

// add takes in the stream's next event. Positions are the indexes of the sources, by their events.
func (s *sessionStream) add(event schema.Event, position map[string]int) error {
	switch event.Type {
	case schema.MemoryExtracted:
		extracted, err := schema.Decode[schema.MemoryExtractedPayload](event)
		if err != nil {
			return err
		}
		position[event.ID] = len(s.sources)
		s.sources = append(s.sources, extraction{ExtractedEventID: event.ID, Extracted: extracted})
	case schema.EvidenceAligned:
		p, err := schema.Decode[schema.EvidenceAlignedPayload](event)
		if err != nil {
			return err
		}
		at, ok := position[p.ExtractedEventID]
		if !ok {
			return fmt.Errorf("event %q aligns %q, which does not come before it", event.ID, p.ExtractedEventID)
		}
		source := &s.sources[at]
		if source.AlignedEventID != "" && source.First == nil {
			first := source.Aligned
			source.First = &first
		}
		source.AlignedEventID, source.Aligned, source.AlignedAt = event.ID, p, event.TS
	default:
		gained, err := s.ledger.add(event)
		if err != nil {
			return err
		}
		s.done.count(event, gained)
	}
	return nil
}
