package fact

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

var day = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// memory is a stream in memory and its fold.
type memory struct {
	t           require.TestingT
	user, agent string
	opts        Options
	log         []schema.Event
	facts       []Fact
	entries     int
	// read is when the sessions of entries were read.
	read map[string]time.Time
}

func newMemory(t require.TestingT) *memory { return &memory{t: t, user: "ann", agent: "coder"} }

// append stores the events whose keys are new, as the log does.
func (m *memory) append(events []schema.Event) int {
	stored := 0
	for _, e := range events {
		if slices.ContainsFunc(m.log, func(old schema.Event) bool { return old.DedupeKey == e.DedupeKey }) {
			continue
		}
		e.ID, e.Stream, e.Seq = schema.EventID(e.DedupeKey), schema.MemoryStream(m.user, m.agent), uint64(len(m.log)+1)
		m.log = append(m.log, e)
		stored++
	}
	m.facts = m.replay(time.Time{})
	return stored
}

func (m *memory) replay(asOf time.Time) []Fact {
	facts, err := Replay(func(yield func(schema.Event, error) bool) {
		for _, e := range m.log {
			if !yield(e, nil) {
				return
			}
		}
	}, asOf)
	require.NoError(m.t, err)
	return facts
}

// state is the memory in the log.
func (m *memory) state() Memory {
	out, err := foldMemory(m.log)
	require.NoError(m.t, err)
	out.Read, out.Now = m.read, day
	return out
}

// entry is a fact of the memory's scope with aligned evidence.
func (m *memory) entry(title string, confidence float64) schema.Entry {
	m.entries++
	return schema.Entry{
		ID: schema.DerivedID("entry", m.user, title, day.Add(time.Duration(m.entries)).String()), Type: schema.EntryFact,
		Scope: schema.Scope{Project: "red", User: m.user, Agent: m.agent}, SessionID: "s1",
		Title: title, Category: schema.CategoryContext, Confidence: &confidence, EvidenceAligned: true, OccurredAt: day,
	}
}

func (m *memory) batch(entries ...schema.Entry) Batch {
	return Batch{User: m.user, Agent: m.agent, Project: "red", SessionID: "s1", BuildID: "b1", Entries: entries}
}

// say applies the entries of one session and returns the number of new events.
func (m *memory) say(entries ...schema.Entry) int {
	events, err := Plan(m.state(), m.batch(entries...), m.opts)
	require.NoError(m.t, err)
	return m.append(events)
}

func (m *memory) do(c Command) error {
	c.User, c.Agent, c.Actor = m.user, m.agent, "ann"
	if c.At.IsZero() {
		c.At = day
	}
	if c.RequestID == "" {
		c.RequestID = fmt.Sprint("after ", len(m.log))
	}
	for _, e := range m.log {
		if e.DedupeKey == schema.FactOfCommandKey(m.user, m.agent, c.RequestID) {
			return refusal(e)
		}
	}
	events, err := PlanCommand(m.state(), c, m.opts)
	m.append(events)
	return err
}

func (m *memory) contents() []string {
	var out []string
	for _, f := range Remembered(m.facts) {
		out = append(out, f.Content)
	}
	return out
}

func (m *memory) skips() []string {
	var out []string
	for _, e := range m.log {
		o, err := readEvent(e)
		require.NoError(m.t, err)
		if p, ok := o.payload.(schema.FactSkippedPayload); ok {
			out = append(out, p.Skipped)
		}
	}
	return out
}

func ptr[T any](v T) *T { return &v }
