package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"axiommind/deploy/local/install"
)

// reporter shows the progress of each part of a start: a line for each change and, on a terminal, a bar for each part that
// is not ready, redrawn several times a second. Elsewhere an occasional line replaces the bars.
type reporter struct {
	out   io.Writer
	start time.Time
	// terminal is the terminal behind out, or nil. Control sequences go to it directly.
	terminal *os.File

	mu sync.Mutex
	// names are the parts in the order of the plan.
	names []string
	parts map[string]*part
	// drawn is the number of lines of bars on the terminal.
	drawn int
	stop  chan struct{}
	done  chan struct{}
}

// part is one part of a start.
type part struct {
	state string
	since time.Time
	// done of total steps are done. Total is 0 where nothing is counted.
	done, total int
}

const (
	// drawInterval is the time between two drawings of the bars.
	drawInterval = 200 * time.Millisecond
	// quietInterval is the time between two lines where nothing can be redrawn.
	quietInterval = 20 * time.Second
	// barWidth is the number of characters in a bar.
	barWidth = 24
)

func newReporter(out io.Writer) *reporter {
	r := &reporter{out: out, start: time.Now(), parts: map[string]*part{}, stop: make(chan struct{}), done: make(chan struct{})}
	if f, ok := exact(out).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		r.terminal = f
	}
	go r.run()
	return r
}

// plan prints the parts of a start and how long each may take.
func (r *reporter) plan(parts []install.Part) {
	_, _ = fmt.Fprintln(r.out, "The plan. Its parts are fetched and built side by side, once; the next start takes seconds.")
	for _, p := range parts {
		needs := "in the cache"
		if p.Needs > 0 {
			needs = "about " + rounded(p.Needs)
		}
		_, _ = fmt.Fprintf(r.out, "  %-10s  %-44s %s\n", p.Name, p.Work, needs)
	}
	_, _ = fmt.Fprintln(r.out)
}

// rounded is a duration for people.
func rounded(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}

// set records the state of a part.
func (r *reporter) set(name, state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.part(name) = part{state: state, since: time.Now()}
	r.clear()
	_, _ = fmt.Fprintf(r.out, "[%5.1fs] %-10s %s\n", time.Since(r.start).Seconds(), name, state)
}

// measure records how many steps of a part are done.
func (r *reporter) measure(name string, done, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.part(name)
	p.done, p.total = done, total
}

func (r *reporter) part(name string) *part {
	p := r.parts[name]
	if p == nil {
		p = &part{since: time.Now()}
		r.parts[name] = p
		r.names = append(r.names, name)
	}
	return p
}

func (r *reporter) run() {
	defer close(r.done)
	interval := quietInterval
	if r.terminal != nil {
		interval = drawInterval
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

// draw shows the parts that are not ready, and for how long each has been at it.
func (r *reporter) draw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	width := 0
	if r.terminal != nil {
		width, _, _ = term.GetSize(int(r.terminal.Fd()))
	}
	var bars, words []string
	for _, name := range r.names {
		p := r.parts[name]
		if strings.HasPrefix(p.state, "ready") || strings.HasPrefix(p.state, "not there") {
			continue
		}
		bars = append(bars, cut(visible(p.bar(name)), width-1))
		words = append(words, p.words(name))
	}
	switch {
	case len(bars) == 0:
		r.clear()
	case r.terminal == nil:
		_, _ = fmt.Fprintf(r.out, "[%5.1fs] waiting for %s\n", time.Since(r.start).Seconds(), strings.Join(words, ", "))
	default:
		r.clear()
		_, _ = fmt.Fprintln(r.terminal, strings.Join(bars, "\n"))
		r.drawn = len(bars)
	}
}

// bar is a part on a terminal.
func (p *part) bar(name string) string {
	needs := time.Since(p.since).Round(time.Second)
	if p.total == 0 {
		return fmt.Sprintf("  %-10s  %s, %s", name, p.state, needs)
	}
	full := barWidth * p.done / p.total
	return fmt.Sprintf("  %-10s  %s%s  %3d %%  %d of %d packages, %s", name, strings.Repeat("━", full), strings.Repeat("╌", barWidth-full),
		100*p.done/p.total, p.done, p.total, needs)
}

// words are a part elsewhere.
func (p *part) words(name string) string {
	if p.total == 0 {
		return fmt.Sprintf("%s %.0fs", name, time.Since(p.since).Seconds())
	}
	return fmt.Sprintf("%s %d %% %.0fs", name, 100*p.done/p.total, time.Since(p.since).Seconds())
}

// cut shortens a line to a number of columns: a longer one takes two lines of the terminal, and only one would be cleared.
func cut(line string, columns int) string {
	for i, r := range line {
		columns--
		if r >= '\u1100' && (r < '\u2000' || r > '\u2fff') {
			columns-- // It may be wide.
		}
		if columns < 0 {
			return line[:i]
		}
	}
	return line
}

// clear wipes the bars that draw left on a terminal.
func (r *reporter) clear() {
	if r.terminal != nil && r.drawn > 0 {
		_, _ = fmt.Fprintf(r.terminal, "\x1b[%dA\r\x1b[J", r.drawn)
		r.drawn = 0
	}
}

// close wipes the bars. Later changes are printed all the same.
func (r *reporter) close() {
	close(r.stop)
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
}
