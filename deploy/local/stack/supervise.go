package stack

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// server is one server that the stack started, and how it is started again.
type server struct {
	launch  launch
	process *process
}

// Supervise restarts each server that ends, at the same address and with the same data. It returns when ctx has
// ended. say receives the events of each server. changed is called when a server has ended and when it has been
// started, because [Stack.Servers] then returns another process id.
func (s *Stack) Supervise(ctx context.Context, say func(name, what string), changed func()) {
	s.mu.Lock()
	servers := slices.Clone(s.servers)
	s.mu.Unlock()
	var wait sync.WaitGroup
	for _, sv := range servers {
		wait.Go(func() { s.supervise(ctx, sv, say, changed) })
	}
	wait.Wait()
}

func (s *Stack) supervise(ctx context.Context, sv *server, say func(name, what string), changed func()) {
	var pace Pace
	name := sv.launch.command.name
	pace.Started(sv.process.started)
	for {
		select {
		case <-ctx.Done():
			return
		case <-sv.process.done:
		}
		if ctx.Err() != nil {
			return
		}
		changed()
		if !Again(ctx, &pace, sv.process.failure(), func(what string) { say(name, what) }) {
			return
		}
		if err := s.restart(ctx, sv, changed); err != nil {
			if ctx.Err() == nil && !sv.process.ended() {
				say(name, err.Error())
				sv.process.stop()
			}
			continue
		}
		say(name, "is up again")
		if sv.launch.caution != "" {
			say(name, sv.launch.caution)
		}
	}
}

// restart starts a server again, calls started and waits until the server answers.
func (s *Stack) restart(ctx context.Context, sv *server, started func()) error {
	command := sv.launch.command
	command.appendLog = true
	p, err := start(command)
	if err != nil {
		// A server that can't be started counts as one that ended at once.
		p = endedProcess(command, err)
	}
	s.mu.Lock()
	sv.process = p
	s.mu.Unlock()
	started()
	if ctx.Err() != nil {
		p.stop()
		return ctx.Err()
	}
	return p.ready(ctx, sv.launch.ready())
}

// Again reports that something ended, and why, and waits until it may be started again. It returns false if ctx
// ends first.
func Again(ctx context.Context, pace *Pace, reason error, say func(what string)) bool {
	wait := pace.Wait(time.Now())
	when := "starting it again"
	if wait > RestartInterval {
		when = fmt.Sprintf("it ended %d times within a minute: starting it again in %s", RestartsPerMinute, wait.Round(time.Second))
	}
	say(fmt.Sprintf("%v; %s", reason, when))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	pace.Started(time.Now())
	return true
}
