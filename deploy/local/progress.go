package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"axiommind/activities/text"
)

// reporter tells the user what each server is waiting for: a line per change,
// and in between a line that is redrawn each second on a terminal, or printed
// now and then elsewhere.
type reporter struct {
	out   io.Writer
	start time.Time
	// terminal is the terminal behind out, or nil. Control sequences go to it directly.
	terminal *os.File

	mu     sync.Mutex
	states map[string]string
	since  map[string]time.Time
	stop   chan struct{}
	done   chan struct{}
}

// quietInterval is the time between two lines where no line can be redrawn.
const quietInterval = 20 * time.Second

func newReporter(out io.Writer) *reporter {
	r := &reporter{
		out: out, start: time.Now(),
		states: map[string]string{}, since: map[string]time.Time{},
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	if f, ok := exact(out).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		r.terminal = f
	}
	go r.run()
	return r
}

// set records what a server does now.
func (r *reporter) set(name, state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states[name], r.since[name] = state, time.Now()
	r.clear()
	_, _ = fmt.Fprintf(r.out, "[%5.1fs] %-10s %s\n", time.Since(r.start).Seconds(), name, state)
}

func (r *reporter) run() {
	defer close(r.done)
	interval := quietInterval
	if r.terminal != nil {
		interval = time.Second
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
			r.draw()
		}
	}
}

// draw says what is still going on and for how long.
func (r *reporter) draw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var parts []string
	for name, state := range r.states {
		if !strings.HasPrefix(state, "ready") {
			parts = append(parts, fmt.Sprintf("%s %.0fs", name, time.Since(r.since[name]).Seconds()))
		}
	}
	if len(parts) == 0 {
		return
	}
	slices.Sort(parts)
	line := fmt.Sprintf("[%5.1fs] waiting for %s", time.Since(r.start).Seconds(), text.Visible(strings.Join(parts, ", ")))
	if r.terminal == nil {
		_, _ = fmt.Fprintln(r.out, line)
		return
	}
	r.clear()
	_, _ = fmt.Fprint(r.terminal, line)
}

// clear wipes the line that draw left on a terminal.
func (r *reporter) clear() {
	if r.terminal != nil {
		_, _ = fmt.Fprint(r.terminal, "\r\x1b[K")
	}
}

func (r *reporter) close() {
	close(r.stop)
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
}
