package workflows_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
	"axiommind/starter/client"
)

// TestCases judges the observed behaviour of queues.
func TestCases(t *testing.T) {
	t.Parallel()
	sharedtest.RunAreas(t, sharedtest.Judges{"queue": judgeQueue})
}

// queueCase is a case of queues. Times are in seconds.
type queueCase struct {
	Enabled *bool      `json:"enabled"`
	Adds    []queueAdd `json:"adds"`
	// AddNowait are pairs of a thread and a message.
	AddNowait       [][]string      `json:"add_nowait"`
	WorkerBusy      bool            `json:"worker_busy"`
	DebounceSeconds float64         `json:"debounce_seconds"`
	Events          json.RawMessage `json:"events"`
	Event           string          `json:"event"`
	// Batch are threads, each with the behaviour of its session behind a colon.
	Batch          []string        `json:"batch"`
	UpdateTakes    float64         `json:"update_takes_s"`
	Pending        json.RawMessage `json:"pending"`
	Processing     json.RawMessage `json:"processing"`
	TimerFires     json.RawMessage `json:"timer_fires"`
	MaxWaitSeconds float64         `json:"max_wait_seconds"`
}

type queueAdd struct {
	Thread        string  `json:"thread"`
	User          *string `json:"user"`
	Agent         *string `json:"agent"`
	Msg           string  `json:"msg"`
	Correction    bool    `json:"correction"`
	Reinforcement bool    `json:"reinforcement"`
	Nowait        bool    `json:"nowait,omitempty"`
}

type queueExpect struct {
	Pending   json.RawMessage `json:"pending"`
	Processed []struct {
		At   float64  `json:"at"`
		Keys []string `json:"keys"`
	} `json:"processed"`
	StartsAt        []float64 `json:"starts_at_s"`
	BatchEndsAt     *float64  `json:"batch_ends_at_s"`
	OursBatchEndsAt *float64  `json:"ours_batch_ends_at_s"`
	Attempted       []string  `json:"attempted"`
	Requeued        *[]string `json:"requeued"`
	Lost            *int      `json:"lost"`
	ConcurrentRuns  *int      `json:"concurrent_runs"`
	Reruns          *int      `json:"reruns_after_finish"`
}

func judgeQueue(input, expect json.RawMessage) string {
	var in queueCase
	var want queueExpect
	if wrong := sharedtest.Decode(input, &in); wrong != "" {
		return wrong
	}
	if err := json.Unmarshal(expect, &want); err != nil {
		return err.Error()
	}
	switch {
	case in.Adds != nil, in.AddNowait != nil:
		return judgePending(in, want)
	case in.Event != "":
		return judgeCrash(in, want)
	case in.Events != nil:
		return judgeDebounce(in, want)
	case in.Batch != nil:
		return judgeBatch(in, want)
	case in.Processing != nil:
		return judgeProcessing(in, want)
	}
	return "a case of queues that nobody knows"
}

// differ compares got with want as JSON and returns a difference, or "".
func differ(what string, got, want any) string {
	g, err1 := json.Marshal(got)
	w, err2 := json.Marshal(want)
	if err := errors.Join(err1, err2); err != nil {
		return err.Error()
	}
	if string(g) != string(w) {
		return fmt.Sprintf("%s: got %s, want %s", what, g, w)
	}
	return ""
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// addsDisabled adds contexts through a client that has memory switched off, and returns those that it did not drop.
func addsDisabled(adds []queueAdd) (added []queueAdd, wrong string) {
	c, err := client.Open(context.Background(), client.Config{Servers: client.Servers{NoQueue: true, TemporalAddress: "127.0.0.1:1"}})
	if err != nil {
		return nil, err.Error()
	}
	defer func() { _ = c.Close() }()
	for _, add := range adds {
		_, err := c.Enqueue(context.Background(), client.Conversation{
			Thread: add.Thread, Messages: []client.Message{{Role: "user", Content: add.Msg}}, Now: add.Nowait,
		})
		switch {
		case err == nil:
			added = append(added, add)
		case !errors.Is(err, client.ErrDisabled):
			return nil, fmt.Sprintf("add to %q: %v", add.Thread, err)
		}
	}
	return added, ""
}

// judgePending adds contexts and checks the pending ones. The queues of several users and agents are one list.
func judgePending(in queueCase, want queueExpect) string {
	for _, pair := range in.AddNowait {
		in.Adds = append(in.Adds, queueAdd{Thread: pair[0], Msg: pair[1], Nowait: true})
	}
	if in.Enabled != nil && !*in.Enabled {
		var wrong string
		if in.Adds, wrong = addsDisabled(in.Adds); wrong != "" {
			return wrong
		}
	}
	type place struct {
		queueAdd
		last int
	}
	var all []place
	messages := []string{}
	byQueue := map[schema.MemoryQueueInput][]int{}
	for i, add := range in.Adds {
		q := schema.MemoryQueueInput{User: "default"}
		if add.User != nil {
			q.User = *add.User
		}
		if add.Agent != nil {
			q.Agent = *add.Agent
		}
		byQueue[q] = append(byQueue[q], i)
	}
	for q, adds := range byQueue {
		b := newQueueBench(&queueRoom{}, q)
		b.session = func(ctx workflow.Context, _ schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
			return schema.ProcessSessionResult{}, workflow.Sleep(ctx, time.Hour)
		}
		if in.WorkerBusy {
			other := b.context("busy with another one", "busy")
			other.Now = true
			b.enqueue(0, other)
		}
		for _, i := range adds {
			c := b.context(in.Adds[i].Thread, in.Adds[i].Msg)
			c.Now, c.Correction, c.Reinforcement = in.Adds[i].Nowait, in.Adds[i].Correction, in.Adds[i].Reinforcement
			b.enqueue(time.Duration(i+1)*time.Millisecond, c)
		}
		var state schema.QueueState
		b.RegisterDelayedCallback(func() {
			value, err := b.QueryWorkflow(schema.QueryState)
			if err == nil {
				err = value.Get(&state)
			}
			if err != nil {
				panic(err)
			}
			for i, c := range b.room.contexts {
				if !b.room.ended[i] && c.Messages[0].Content != "busy" {
					messages = append(messages, c.Messages[0].Content)
				}
			}
			b.CancelWorkflow()
		}, time.Second)
		_ = b.execute()
		waiting := slices.Concat(state.Pending, state.Running)
		for _, i := range adds {
			add := in.Adds[i]
			at := slices.IndexFunc(waiting, func(t schema.QueuedThread) bool { return t.Thread == add.Thread })
			if at < 0 {
				return fmt.Sprintf("thread %q does not wait: %+v", add.Thread, state)
			}
			known := slices.IndexFunc(all, func(p place) bool {
				return p.Thread == add.Thread && differ("", p.User, add.User) == "" && differ("", p.Agent, add.Agent) == ""
			})
			add.Nowait = false
			add.Correction, add.Reinforcement = false, false
			for _, t := range waiting {
				if t.Thread == add.Thread {
					add.Correction, add.Reinforcement = add.Correction || t.Correction, add.Reinforcement || t.Reinforcement
				}
			}
			if known < 0 {
				all = append(all, place{add, i})
			} else {
				all[known] = place{add, i}
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.last, b.last) })
	got := []queueAdd{}
	for _, p := range all {
		got = append(got, p.queueAdd)
	}
	var texts []string
	if json.Unmarshal(want.Pending, &texts) == nil && len(texts) > 0 {
		return differ("messages that wait", messages, texts)
	}
	var listed []queueAdd
	if err := json.Unmarshal(want.Pending, &listed); err != nil {
		return err.Error()
	}
	return differ("pending", got, listed)
}

// judgeDebounce adds threads at times and checks when they are processed.
func judgeDebounce(in queueCase, want queueExpect) string {
	var events []struct {
		At  float64 `json:"at"`
		Add string  `json:"add"`
	}
	if err := json.Unmarshal(in.Events, &events); err != nil {
		return err.Error()
	}
	b := newQueueBench(&queueRoom{}, annQueue)
	for _, e := range events {
		c := b.context(e.Add, e.Add)
		c.Debounce, c.MaxWait = seconds(in.DebounceSeconds), seconds(in.MaxWaitSeconds)
		b.enqueue(seconds(e.At), c)
	}
	if err := b.execute(); err != nil {
		return err.Error()
	}
	type goOf struct {
		At   float64  `json:"at"`
		Keys []string `json:"keys"`
	}
	got := []goOf{}
	for i, s := range b.starts {
		if i == 0 || s.at-b.starts[i-1].at > schema.QueuePause {
			got = append(got, goOf{At: s.at.Seconds()})
		}
		got[len(got)-1].Keys = append(got[len(got)-1].Keys, s.thread)
	}
	return differ("processed", got, want.Processed)
}

// judgeBatch processes threads together.
func judgeBatch(in queueCase, want queueExpect) string {
	b := newQueueBench(&queueRoom{}, annQueue)
	does := map[string]string{}
	var end time.Duration
	b.session = func(ctx workflow.Context, s schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		if err := workflow.Sleep(ctx, seconds(in.UpdateTakes)); err != nil {
			return schema.ProcessSessionResult{}, err
		}
		end = workflow.Now(ctx).Sub(b.began)
		switch does[s.SessionID] {
		case "raises":
			return schema.ProcessSessionResult{}, temporal.NewApplicationError("raised", schema.ErrorModelUnavailable)
		case "returns_false":
			return schema.ProcessSessionResult{Status: schema.BuildEmpty, QueuedTo: s.Queued[len(s.Queued)-1]}, nil
		}
		return schema.ProcessSessionResult{}, nil
	}
	for _, text := range in.Batch {
		thread, what, _ := strings.Cut(text, ":")
		does[thread] = what
		c := b.context(thread, thread)
		c.Debounce = time.Second
		b.enqueue(0, c)
	}
	requeued := []string{}
	b.RegisterDelayedCallback(func() {
		value, err := b.QueryWorkflow(schema.QueryState)
		var s schema.QueueState
		if err == nil {
			err = value.Get(&s)
		}
		if err != nil {
			panic(err)
		}
		for _, a := range s.Again {
			requeued = append(requeued, a.Thread)
		}
		clear(does)
	}, 50*time.Second)
	if err := b.execute(); err != nil {
		return err.Error()
	}
	starts, attempted := []float64{}, []string{}
	for _, s := range b.starts[:len(in.Batch)] {
		starts, attempted = append(starts, (s.at-b.starts[0].at).Seconds()), append(attempted, s.thread)
	}
	ends := want.OursBatchEndsAt
	if ends == nil {
		ends = want.BatchEndsAt
	}
	var wrong []string
	check := func(asked bool, what string, got, want any) {
		if d := ""; asked {
			if d = differ(what, got, want); d != "" {
				wrong = append(wrong, d)
			}
		}
	}
	check(want.StartsAt != nil, "starts", starts, want.StartsAt)
	check(ends != nil, "end", (end - b.starts[0].at).Seconds(), ends)
	check(want.Attempted != nil, "attempted", attempted, want.Attempted)
	check(want.Requeued != nil, "requeued", requeued, want.Requeued)
	return strings.Join(wrong, "; ")
}

// judgeCrash kills the program while contexts are pending.
func judgeCrash(in queueCase, want queueExpect) string {
	var pending int
	if err := json.Unmarshal(in.Pending, &pending); err != nil || want.Lost == nil {
		return fmt.Sprintf("pending %s: want a number, and lost: %v", in.Pending, err)
	}
	room := &queueRoom{}
	b := newQueueBench(room, annQueue)
	for i := range pending {
		b.enqueue(0, b.context(fmt.Sprint("t", i), "a"))
	}
	var left *queueRoom
	b.RegisterDelayedCallback(func() { left = room.clone() }, 5*time.Second)
	if err := b.execute(); err != nil {
		return err.Error()
	}
	again := newQueueBench(left, annQueue)
	if err := again.execute(); err != nil {
		return err.Error()
	}
	return differ("lost", pending-len(again.starts), *want.Lost)
}

// judgeProcessing lets the timer fire while a session is being processed.
func judgeProcessing(in queueCase, want queueExpect) string {
	fires := 1
	_ = json.Unmarshal(in.TimerFires, &fires) // It may be true.
	takes := cmp.Or(seconds(in.UpdateTakes), time.Minute)
	b := newQueueBench(&queueRoom{}, annQueue)
	running, most := 0, 0
	b.session = func(ctx workflow.Context, _ schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		running++
		most = max(most, running)
		err := workflow.Sleep(ctx, takes)
		running--
		return schema.ProcessSessionResult{}, err
	}
	for i := range fires + 1 {
		c := b.context("t", fmt.Sprint(i))
		c.Now = true
		b.enqueue(takes*time.Duration(i)/time.Duration(fires+1), c)
	}
	if err := b.execute(); err != nil {
		return err.Error()
	}
	var wrong []string
	if want.ConcurrentRuns != nil {
		wrong = append(wrong, differ("runs at a time", most, *want.ConcurrentRuns))
	}
	if want.Reruns != nil {
		wrong = append(wrong, differ("runs after it", len(b.starts)-1, *want.Reruns))
	}
	return strings.Join(slices.DeleteFunc(wrong, func(s string) bool { return s == "" }), "; ")
}
