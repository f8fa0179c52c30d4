package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/llm"
	"axiommind/schema"
)

// A window with an unreadable answer is asked about once more, with the reason, and then quarantined. The others become
// memory, and the build is partial.
func TestProcessSessionQuarantine(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.windows = 3
	var asked []llm.ExtractInput
	r.answer = func(in llm.ExtractInput) (llm.ExtractResult, error) {
		result := llm.ExtractResult{Key: fmt.Sprintf("key-%d%s", in.Window.First, in.RepairOf), Usage: schema.Usage{Calls: 1}}
		if in.Window.First == 10 {
			asked = append(asked, in)
			result.Unreadable = fmt.Sprintf("no JSON (%d)", len(asked))
		}
		return result, nil
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, schema.BuildPartial, result.Status)
	require.Equal(t, 3, result.Counts.Windows)
	require.Equal(t, 1, result.Counts.Quarantined)
	require.Equal(t, 4, result.Usage.Calls)

	require.Len(t, asked, 2)
	require.Empty(t, asked[0].RepairOf)
	require.Equal(t, "key-10", asked[1].RepairOf)
	require.Equal(t, "no JSON (1)", asked[1].Reason)
	require.Len(t, r.recorded, 3)
	require.Equal(t, []string{"key-10", "key-10key-10"}, r.recorded[1].Keys)
	require.Equal(t, "no JSON (2)", r.recorded[1].Quarantined)
	require.Equal(t, schema.ErrorModelUnreadable, r.recorded[1].QuarantinedType)
	require.Empty(t, r.recorded[0].Quarantined)
	require.Empty(t, r.recorded[2].Quarantined)
}

func TestProcessSessionRepair(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.answer = func(in llm.ExtractInput) (llm.ExtractResult, error) {
		if in.RepairOf != "" {
			return llm.ExtractResult{Key: "second"}, nil
		}
		return llm.ExtractResult{Key: "first", Unreadable: "no JSON"}, nil
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, []string{"first", "second"}, r.recorded[0].Keys)
	require.Empty(t, r.recorded[0].Quarantined)
}

// A window that the model refuses to answer is quarantined. It is not asked about again in other words.
func TestProcessSessionRefusedWindow(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(llm.ExtractInput) (llm.ExtractResult, error){
		"blocked": func(llm.ExtractInput) (llm.ExtractResult, error) {
			return llm.ExtractResult{Refused: "gemini: blocked: SAFETY", RefusedType: schema.ErrorModelBlocked}, nil
		},
		"useless after every retry": func(llm.ExtractInput) (llm.ExtractResult, error) {
			return llm.ExtractResult{}, temporal.NewNonRetryableApplicationError("gemini: blocked: SAFETY", schema.ErrorModelBlocked, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			r.answer = answer
			result, err := process(t, r, sessionInput())
			require.NoError(t, err)
			require.Equal(t, schema.BuildPartial, result.Status)
			require.Equal(t, "gemini: blocked: SAFETY", r.recorded[0].Quarantined)
			require.Equal(t, schema.ErrorModelBlocked, r.recorded[0].QuarantinedType)
			require.Equal(t, 1, count(r.order(), "ExtractWindow"))
		})
	}
}

// A session with more windows than fit into one plan is planned, asked about and recorded page by page, in order, a few
// windows at a time. No payload grows with it.
func TestProcessSessionPages(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.windows = 230
	var mu sync.Mutex
	running, most := 0, 0
	r.before = func(_ context.Context, name string) {
		if name != "ExtractWindow" {
			return
		}
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		time.Sleep(time.Millisecond) // So that calls overlap.
		mu.Lock()
		running--
		mu.Unlock()
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, 230, result.Counts.Windows)
	require.Equal(t, 230, result.Usage.Calls)
	require.Equal(t, 8, count(r.order(), "PlanWindows"))
	require.Equal(t, 8, count(r.order(), "RecordExtraction"))
	require.Len(t, r.recorded, 230)
	for i, w := range r.recorded {
		require.Equal(t, 10*i, w.Window.First)
		require.Equal(t, []string{"key-of-" + w.Window.Hash}, w.Keys)
	}
	require.GreaterOrEqual(t, most, 2)
	require.LessOrEqual(t, most, 4)
}

// Payloads stay small even if every window of a plan is quarantined with the longest reason.
func TestProcessSessionLongReasons(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.windows, r.asked = 32, 9
	reason := strings.Repeat(`"`, 600)
	r.answer = func(in llm.ExtractInput) (llm.ExtractResult, error) {
		usage := schema.Usage{Calls: 1, InputTokens: 1e6, OutputTokens: 1e6, ThoughtTokens: 1e6, CostUSD: 0.123456789}
		return llm.ExtractResult{Key: schema.HashText(in.Window.Hash), Unreadable: reason, Usage: usage}, nil
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, 32, result.Counts.Quarantined)
	require.Equal(t, reason, r.recorded[31].Quarantined)
	t.Logf("largest payload: %d bytes", r.largest)
}

// A window that earlier builds asked about in vain is asked about again under its number, and its answer is recorded
// under it.
func TestProcessSessionAsksAgain(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.opened.First = false
	r.asked = 2
	var asked []int
	r.answer = func(in llm.ExtractInput) (llm.ExtractResult, error) {
		asked = append(asked, in.Window.Asked)
		return llm.ExtractResult{Key: fmt.Sprint("key ", len(asked)), Unreadable: "no JSON"}, nil
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, schema.BuildPartial, result.Status)
	require.Equal(t, []int{2, 2}, asked, "once, and once for the repair")
	require.Equal(t, 2, r.recorded[0].Window.Asked)
	require.Equal(t, []string{"key 1", "key 2"}, r.recorded[0].Keys)
}

// A failed window ends the step and does not hide the results of the others in flight.
func TestProcessSessionWindowFails(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.windows = 8
	r.answer = func(in llm.ExtractInput) (llm.ExtractResult, error) {
		if in.Window.First == 20 {
			return llm.ExtractResult{}, temporal.NewNonRetryableApplicationError("key refused", schema.ErrorModelRefused, nil)
		}
		return llm.ExtractResult{Key: "k"}, nil
	}
	_, err := process(t, r, sessionInput())
	require.ErrorContains(t, err, "extract: key refused")
	require.Empty(t, r.recorded)
}

// After a failed window the build plans again, to ask about its halves, until nothing is open. A window that was given
// up is not planned again.
func TestProcessSessionPlansAgain(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.answer = func(in llm.ExtractInput) (llm.ExtractResult, error) {
		if in.Window.First == 0 {
			r.windows = 3 // The next plan has two halves.
			return llm.ExtractResult{Refused: "too long", RefusedType: schema.ErrorModelTooLong}, nil
		}
		return llm.ExtractResult{Key: "k"}, nil
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, 2, count(r.order(), "PlanWindows"))
	require.Equal(t, 3, count(r.order(), "ExtractWindow"))
	require.Len(t, r.recorded, 3)
	require.Equal(t, 3, result.Counts.Windows, "what the last plan counts, and what was recorded since")

	r = newRooms()
	r.small = true
	r.answer = func(llm.ExtractInput) (llm.ExtractResult, error) {
		return llm.ExtractResult{Refused: "no", RefusedType: schema.ErrorModelBlocked}, nil
	}
	result, err = process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, 1, count(r.order(), "PlanWindows"))
	require.Equal(t, 1, result.Counts.Quarantined)
	require.Equal(t, 1, result.Counts.GivenUp)
}

// A model that is rate limited for long fails the build with the first windows that waited in vain. The others do not
// wait one after another.
func TestProcessSessionStopsAsking(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.windows = 32
	r.answer = func(llm.ExtractInput) (llm.ExtractResult, error) {
		return llm.ExtractResult{}, temporal.NewNonRetryableApplicationError("retry after 8h", schema.ErrorModelRateLimited, nil)
	}
	_, err := process(t, r, sessionInput())
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, schema.ErrorModelRateLimited, application.Type())
	require.Contains(t, application.Message(), "extract: retry after 8h")
	require.Equal(t, 4, count(r.order(), "ExtractWindow"))
	require.Empty(t, r.recorded)
}
