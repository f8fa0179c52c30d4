package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newLogs returns a function that opens logs over one database. Each is like another process: it remembers nothing.
func newLogs(t testing.TB) func() *projection.Store {
	t.Helper()
	conn := stacktest.Migrated(t)
	return func() *projection.Store { return projection.New(conn, eventlog.Options{}) }
}

// listing is the content of a list: items to add, and items to pass over.
type listing []struct {
	name, reason string
	passed       bool
}

func drawListing(t *rapid.T) (l listing) {
	text := rapid.OneOf(rapid.StringN(0, 40, -1), rapid.Just(strings.Repeat("긴 이름 \"'/\x01", 300)), rapid.Just("\xff\x00"), rapid.Just(strings.Repeat("x", 30<<10)))
	for range rapid.IntRange(0, 120).Draw(t, "length") {
		l = append(l, struct {
			name, reason string
			passed       bool
		}{text.Draw(t, "name"), text.Draw(t, "reason"), rapid.Bool().Draw(t, "passed")})
	}
	return l
}

// attempt lists the elements after the cursor, and breaks off after so many.
func (l listing) attempt(ctx context.Context, log *projection.Store, batch string, breaksOff int) (Listed, error) {
	to, err := List(ctx, log.Store, batch, noon)
	if err != nil {
		return Listed{}, err
	}
	from := 0
	if to.Cursor() != "" {
		if _, err := fmt.Sscan(to.Cursor(), &from); err != nil {
			return Listed{}, err
		}
	}
	for i, e := range l[from:] {
		if i == breaksOff {
			return Listed{}, errBrokeOff
		}
		cursor := fmt.Sprint(from + i + 1)
		if e.passed {
			err = to.PassOver(ctx, schema.PassedOver{Name: e.name, Reason: e.reason}, cursor)
		} else {
			err = to.Add(ctx, schema.BatchItem{Name: e.name, Refused: e.reason, Input: schema.ProcessSessionInput{SessionID: fmt.Sprint(from + i)}}, cursor)
		}
		if err != nil {
			return Listed{}, err
		}
	}
	return to.Close(ctx)
}

var errBrokeOff = errors.New("broke off")

func TestListIsWhole(t *testing.T) {
	t.Parallel()
	listIsWhole(t, 6)
}

// However often an attempt breaks off, the list contains each item once and in order, in small events and payloads, and a
// reader that goes item by item gets all of them. A draw is some 50 requests.
func listIsWhole(t *testing.T, draws int) {
	t.Helper()
	logs, n := newLogs(t), 0
	log := logs()
	a, err := NewActivities(log.Store)
	require.NoError(t, err)
	sharedtest.CheckFew(t, draws, func(t *rapid.T) {
		n++
		batch, l := fmt.Sprintf("묶음 %d", n), drawListing(t)
		var got Listed
		for attempts := 0; ; attempts++ {
			if rapid.Bool().Draw(t, "another process") {
				log = logs()
			}
			var err error
			breaksOff := rapid.IntRange(0, 100).Draw(t, "breaks off after")
			if attempts > 4 {
				breaksOff = -1
			}
			got, err = l.attempt(t.Context(), log, batch, breaksOff)
			if err == nil {
				break
			}
			require.ErrorIs(t, err, errBrokeOff)
		}
		again, err := l.attempt(t.Context(), log, batch, -1)
		require.NoError(t, err)
		require.Equal(t, got, again, "a list that is done stays as it is")

		r, err := Read(t.Context(), log.Store, batch)
		require.NoError(t, err)
		require.Equal(t, []int{got.Items, got.PassedOver}, []int{len(r.Items), len(r.PassedOver)})
		at := 0
		for i, e := range l {
			if e.passed {
				continue
			}
			require.Equal(t, at, r.Items[at].Index)
			require.Equal(t, fmt.Sprint(i), r.Items[at].Input.SessionID)
			at++
		}
		require.Equal(t, len(r.Items), at)
		requireRead(t, a, batch, r.Items)
	})
}

// requireRead reads the items as the workflow does.
func requireRead(t *rapid.T, a *Activities, batch string, want []schema.BatchItem) {
	var items []schema.BatchItem
	in := NextInput{Batch: batch, Most: rapid.IntRange(1, 60).Draw(t, "most")}
	for {
		next, err := a.next(t.Context(), in)
		require.NoError(t, err)
		data, err := json.Marshal(next)
		require.NoError(t, err)
		require.LessOrEqual(t, len(data), 62<<10)
		require.LessOrEqual(t, len(next.Items), in.Most)
		items = append(items, next.Items...)
		in.From, in.Page = len(items), next.Page
		if !next.More {
			break
		}
		require.NotEmpty(t, next.Items, "none are returned only at the end")
	}
	require.Equal(t, len(want), len(items))
	for i := range want {
		require.Equal(t, want[i], items[i])
	}
	if len(want) > 0 {
		from := rapid.IntRange(0, len(want)-1).Draw(t, "from")
		next, err := a.next(t.Context(), NextInput{Batch: batch, From: from, Most: 1})
		require.NoError(t, err)
		require.Equal(t, want[from:from+1], next.Items)
	}
}

// An attempt that was taken for dead, and is not, does not mix its list with that of its successor.
func TestTwoListAtOnce(t *testing.T) {
	t.Parallel()
	logs := newLogs(t)
	lists := [2]listing{}
	for i := range 400 {
		for which := range lists {
			lists[which] = append(lists[which], struct {
				name, reason string
				passed       bool
			}{fmt.Sprintf("list %d item %d", which, i), strings.Repeat("y", 500), false})
		}
	}
	ends := make(chan error, 2)
	for _, l := range lists {
		go func() {
			var err error
			for range 100 {
				if _, err = l.attempt(t.Context(), logs(), "b", -1); !errors.Is(err, eventlog.ErrConcurrentWriter) {
					break
				}
			}
			ends <- err
		}()
	}
	require.NoError(t, <-ends)
	require.NoError(t, <-ends)
	r, err := Read(t.Context(), logs().Store, "b")
	require.NoError(t, err)
	require.Len(t, r.Items, 400)
	for i, item := range r.Items {
		require.Equal(t, i, item.Index)
		require.True(t, strings.HasSuffix(item.Name, fmt.Sprintf("item %d", i)), item.Name)
	}
}

// An item that no payload could hold is refused, and its neighbours are listed.
func TestListRefusesGiants(t *testing.T) {
	t.Parallel()
	logs := newLogs(t)
	to, err := List(t.Context(), logs().Store, "b", noon)
	require.NoError(t, err)
	giant := strings.Repeat("\x01", 70<<10)
	for i, item := range []schema.BatchItem{
		{Name: "uri", Input: schema.ProcessSessionInput{Project: "p", User: "u", Agent: "a", SessionID: "s", URI: giant}},
		{Name: "id" + giant, Refused: "why " + giant, RefusedType: schema.ErrorSourceUnreadable, Input: schema.ProcessSessionInput{
			Project: giant, User: giant, Agent: giant, SessionID: giant,
		}},
		{Name: "beside", Input: schema.ProcessSessionInput{SessionID: "beside"}},
	} {
		require.NoError(t, to.Add(t.Context(), item, fmt.Sprint(i)))
	}
	_, err = to.Close(t.Context())
	require.NoError(t, err)
	a, err := NewActivities(logs().Store)
	require.NoError(t, err)
	var items []schema.BatchItem
	for len(items) < 3 {
		next, err := a.next(t.Context(), NextInput{Batch: "b", From: len(items), Most: 1})
		require.NoError(t, err)
		data, err := json.Marshal(next)
		require.NoError(t, err)
		require.Less(t, len(data), 62<<10)
		items = append(items, next.Items...)
	}
	require.Regexp(t, "^its input has [0-9]+ bytes, more than 61440$", items[0].Refused)
	require.Equal(t, schema.ErrorInvalidInput, items[0].RefusedType)
	require.Equal(t, schema.ProcessSessionInput{Project: "p", User: "u", Agent: "a", SessionID: "s"}, items[0].Input)
	require.Contains(t, items[1].Refused, "why")
	require.Equal(t, schema.ErrorSourceUnreadable, items[1].RefusedType)
	require.Error(t, items[1].Input.Key().Validate(), "what is cut is no name")
	require.Equal(t, schema.BatchItem{Index: 2, Name: "beside", Input: schema.ProcessSessionInput{SessionID: "beside"}}, items[2])
}

// To a list that is done nothing is added, however much it is. Its summary counts its outcomes.
func TestDoneListStays(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	logs := func() *projection.Store { return projection.New(conn, eventlog.Options{}) }
	to, err := List(t.Context(), logs().Store, "b", noon)
	require.NoError(t, err)
	require.NoError(t, to.Add(t.Context(), schema.BatchItem{Name: "first"}, "1"))
	want, err := to.Close(t.Context())
	require.NoError(t, err)
	to, err = List(t.Context(), logs().Store, "b", noon)
	require.NoError(t, err)
	require.True(t, to.Done())
	for range 120 {
		require.NoError(t, to.Add(t.Context(), schema.BatchItem{Refused: strings.Repeat("x", maxReason)}, "2"))
		require.NoError(t, to.PassOver(t.Context(), schema.PassedOver{Reason: strings.Repeat("x", maxReason)}, "3"))
	}
	got, err := to.Close(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{want.Items, want.PassedOver}, []int{got.Items, got.PassedOver})
	r, err := Read(t.Context(), logs().Store, "b")
	require.NoError(t, err)
	require.Len(t, r.Items, 1)
	require.Empty(t, r.PassedOver)

	a, err := NewActivities(logs().Store)
	require.NoError(t, err)
	summary := func() Summary {
		list, err := Summaries(t.Context(), conn, 10, 0)
		require.NoError(t, err)
		require.Len(t, list, 1)
		return list[0]
	}
	require.Equal(t, Summary{Batch: "b", Listed: true, Items: 1, Began: noon, Latest: noon}, summary())
	var head schema.StreamHead
	for failed, status := range []schema.BuildStatus{schema.BuildSuccess, schema.BuildFailed} {
		head, err = a.report(t.Context(), ReportInput{Batch: "b", At: noon.Add(time.Hour), Outcomes: []schema.BatchOutcome{{Index: 0, Status: status}}, Head: head})
		require.NoError(t, err)
		s := summary()
		require.Equal(t, Summary{Batch: "b", Listed: true, Items: 1, Ended: 1, Failed: failed, Began: noon, Latest: noon.Add(time.Hour)}, s, "the later outcome counts")
		require.True(t, s.Done())
	}
}

// Outcomes are recorded once, however often that is asked for. Of two outcomes of an item the later one counts.
func TestReport(t *testing.T) {
	t.Parallel()
	log := newLogs(t)()
	a, err := NewActivities(log.Store)
	require.NoError(t, err)
	one := []schema.BatchOutcome{{Index: 0, SessionID: "가", Status: schema.BuildFailed, Error: "멈춤"}, {Index: 2, Status: schema.BuildEmpty}}
	first, err := a.report(t.Context(), ReportInput{Batch: "b", At: noon, Outcomes: one})
	require.NoError(t, err)
	again, err := a.report(t.Context(), ReportInput{Batch: "b", At: noon, Outcomes: one, Head: first})
	require.NoError(t, err)
	require.Equal(t, first, again)
	_, err = a.report(t.Context(), ReportInput{Batch: "b", At: noon, Outcomes: []schema.BatchOutcome{{Index: 0, SessionID: "가", Status: schema.BuildSuccess}}, Head: first})
	require.NoError(t, err)
	r, err := Read(t.Context(), log.Store, "b")
	require.NoError(t, err)
	require.Equal(t, map[int]schema.BatchOutcome{
		0: {Index: 0, SessionID: "가", Status: schema.BuildSuccess}, 2: {Index: 2, Status: schema.BuildEmpty},
	}, r.Outcomes)
	other, err := Read(t.Context(), log.Store, "c")
	require.NoError(t, err)
	require.Empty(t, other.Items)
}

func TestNewActivities(t *testing.T) {
	t.Parallel()
	_, err := NewActivities(nil)
	require.ErrorContains(t, err, "no event log")
}

// An attempt that is ended loses little of a slow list: a page that has been open for long is stored, though it is not full.
func TestSlowListGoesOn(t *testing.T) {
	t.Parallel()
	log := newLogs(t)()
	to, err := List(t.Context(), log.Store, "slow", noon)
	require.NoError(t, err)
	to.pageTime = 0
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, to.Add(t.Context(), schema.BatchItem{Name: name}, "after "+name))
	}
	next, err := List(t.Context(), log.Store, "slow", noon)
	require.NoError(t, err)
	require.Equal(t, "after b", next.Cursor())
	require.NoError(t, next.Add(t.Context(), schema.BatchItem{Name: "c"}, "after c"))
	listed, err := next.Close(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, listed.Items)
}
