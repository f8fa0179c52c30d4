package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// The suite in ledgertest runs rooms on the real log. These tests are of failures that no server brings about at will.

// number is a request to add a number. The negative ones are refused.
type number int

func (number) Writer() schema.WriterInput { return schema.ProjectTasksInput{Project: "p"} }
func (number) Validate() error            { return nil }

// memoryLog is a log that holds one stream in memory.
type memoryLog struct {
	events []schema.Event
	// afterPlan is the error of Steady beside that of the plan.
	afterPlan func() error
	plans     int
	erasures  uint64
}

func (l *memoryLog) Erasures(context.Context) (uint64, error) { return l.erasures, nil }

func (l *memoryLog) Append(_ context.Context, _ string, events []schema.Event) (out eventlog.Appended, err error) {
	for _, e := range events {
		e.Seq = uint64(len(l.events) + 1)
		l.events, out.Events, out.New = append(l.events, e), append(out.Events, e), out.New+1
	}
	return out, nil
}

func (l *memoryLog) AppendAll(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error) {
	return l.Append(ctx, stream, events)
}

func (l *memoryLog) AsWriter(ctx context.Context, _ string, _ schema.StreamHead) (context.Context, error) {
	return ctx, nil
}

func (l *memoryLog) Head(string) schema.StreamHead {
	return schema.StreamHead{Known: true, Seq: uint64(len(l.events))}
}

func (l *memoryLog) ProjectEach(context.Context, string, []projection.Projector) error { return nil }

func (l *memoryLog) Since(context.Context, string, uint64, []string) ([]schema.Event, uint64, bool, error) {
	return nil, 0, false, nil
}

func (l *memoryLog) Steady(_ context.Context, _ projection.Projector, _ string, plan func() error) error {
	l.plans++
	err := plan()
	if l.afterPlan != nil {
		return errors.Join(err, l.afterPlan())
	}
	return err
}

var errNegative = boundary.Invalid(schema.ErrorInvalidInput, errors.New("negative"))

// adding returns a room whose results are the sums after each request.
func adding(l *memoryLog) Room[number, *int, int] {
	return Room[number, *int, int]{
		Projectors: []projection.Projector{nil},
		Load: func(context.Context, []number) (*int, error) {
			sum := len(l.events) * 100
			return &sum, nil
		},
		Decide: func(_ context.Context, sum *int, n number) (Decision[int], error) {
			*sum += int(n) // Also by a refused one, which makes the state useless.
			if n < 0 {
				return Decision[int]{}, errNegative
			}
			return Decision[int]{Events: []schema.Event{{DedupeKey: fmt.Sprint(n)}}, Result: *sum}, nil
		},
	}
}

func add(t *testing.T, l *memoryLog, room Room[number, *int, int], numbers ...number) (boundary.Outcomes[int], error) {
	return Batch(t.Context(), l, room, boundary.Batch[number]{Items: numbers}, func(_ context.Context, n number) (number, error) { return n, nil })
}

// TestRefusedLeavesNoState: a request that is refused has no part in the state of those after it.
func TestRefusedLeavesNoState(t *testing.T) {
	t.Parallel()
	l := &memoryLog{}
	out, err := add(t, l, adding(l), 1, -50, 2, -60, 3)
	require.NoError(t, err)
	for i, want := range []int{1, 0, 3, 0, 6} {
		require.Equal(t, want, out.Items[i].Result)
		require.Equal(t, want == 0, out.Items[i].Failed != nil)
	}
	require.Len(t, l.events, 3)
	out, err = add(t, l, adding(l), -1)
	require.NoError(t, err)
	require.NotNil(t, out.Items[0].Failed)
	require.Len(t, l.events, 3)
}

// TestRefusedOnRowsThatAreComplete: a refusal counts only if the tables stayed in place while it was decided.
func TestRefusedOnRowsThatAreComplete(t *testing.T) {
	t.Parallel()
	l := &memoryLog{}
	l.afterPlan = func() error { return errors.New("lease lost") }
	_, err := add(t, l, adding(l), 1, -50)
	require.ErrorContains(t, err, "lease lost")
	_, err = One(t.Context(), l, adding(l), schema.StreamHead{}, number(-50))
	require.ErrorContains(t, err, "lease lost")
	require.NotErrorIs(t, err, errNegative)
	l.afterPlan = nil
	_, err = One(t.Context(), l, adding(l), schema.StreamHead{}, number(-50))
	require.Equal(t, errNegative, err, "as it is")
}

// TestProjectsWithoutEvents: an attempt that finds its events in the log calls Project, which the one that stored them
// may not have reached.
func TestProjectsWithoutEvents(t *testing.T) {
	t.Parallel()
	l := &memoryLog{}
	room := adding(l)
	projected := 0
	failure := errors.New("connection reset")
	room.Project = func(context.Context, string, schema.StreamHead, *int) error {
		projected++
		return failure
	}
	_, err := add(t, l, room, 1)
	require.ErrorIs(t, err, failure)
	failure = nil
	room.Decide = func(context.Context, *int, number) (d Decision[int], err error) { return d, nil }
	_, err = add(t, l, room, 1)
	require.NoError(t, err)
	require.Equal(t, 2, projected)
}

// TestErasedMeanwhile: events that were decided before the log learned of an erasure are not stored: they may repeat
// erased text.
func TestErasedMeanwhile(t *testing.T) {
	t.Parallel()
	l := &memoryLog{}
	erase := func() error {
		l.erasures++
		return nil
	}
	l.afterPlan = erase
	_, err := add(t, l, adding(l), 1)
	require.ErrorIs(t, err, eventlog.ErrConcurrentWriter)
	_, err = One(t.Context(), l, adding(l), schema.StreamHead{}, number(1))
	require.ErrorIs(t, err, eventlog.ErrConcurrentWriter)
	l.afterPlan = nil
	_, err = Batch(t.Context(), l, adding(l), boundary.Batch[number]{Items: []number{1}}, func(_ context.Context, n number) (number, error) { return n, erase() })
	require.ErrorIs(t, err, eventlog.ErrConcurrentWriter, "while the request was read")
	require.Empty(t, l.events)
	_, err = add(t, l, adding(l), 1)
	require.NoError(t, err)
}

// TestFirstNew: events that the log held before are not new, and one that was given twice is one event.
func TestFirstNew(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 8, firstNew(eventlog.Appended{New: 2, Events: []schema.Event{{Seq: 8}, {Seq: 3}, {Seq: 9}, {Seq: 8}}}))
	require.EqualValues(t, uint64(math.MaxUint64), firstNew(eventlog.Appended{Events: []schema.Event{{Seq: 8}}}))
	require.Equal(t, 1, Stored{Events: []schema.Event{{Seq: 7}, {Seq: 8}}, from: 8}.New())
}
