package main_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// rebuildAtScale makes logs of the sizes of so many sessions. It measures the projection of new events in so many rounds.
func rebuildAtScale(t *testing.T, sessions, rounds int, sizes ...int) {
	t.Helper()
	b := newBench(t)
	worker := buildWorker(t, b)
	kill := worker.start(t)
	for n := range sessions {
		b.process(t, b.input(fmt.Sprint("s", n), eventful(t, n)))
	}
	rebuild := schema.RebuildInput{Projections: []string{"builds", "facts"}}
	if inCampaign(t) {
		b.night(t, schema.DreamNightInput{})
		rebuild.Projections = nil
	}
	b.awaitIndexed(t)
	kill()
	template := b.template(t)
	var peaks []float64
	for _, size := range sizes {
		b.multiply(t, template, size)
		pid, kill := startMeasured(t, worker)
		idle := residentMB(t, pid)
		began := time.Now()
		stop := watchPeak(t, pid)
		result := b.rebuildBeside(t, rebuild)
		peak, took := stop(), time.Since(began)
		kill()
		rows, applied := uint64(0), 0
		for _, p := range result.Projections {
			rows += p.Rows
			applied += p.Events
			t.Logf("  %-24s %9d events %9d rows %7.1f s", p.Name, p.Events, p.Rows, p.Seconds)
		}
		require.NotZero(t, rows)
		incremental := b.incremental(t, size, rounds)
		t.Logf("%d events: %.1f s, of which writers waited %.1f s; %d applied; memory %.0f MB, %.0f MB when idle; 100 new events %s",
			b.logged(t), took.Seconds(), result.Waited, applied, peak, idle, incremental.Round(time.Millisecond))
		peaks = append(peaks, peak)
		t.Logf("survived: a rebuild of %d events", size)
	}
	if len(peaks) > 1 {
		require.Less(t, slices.Max(peaks), 2*peaks[0]+100, "memory grows with the number of events: %v", peaks)
	}
}

func (b *bench) logged(t *testing.T) (n uint64) {
	t.Helper()
	require.NoError(t, b.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM events_raw").Scan(&n))
	return n
}

// logTemplate is a log of a few sessions, of which larger ones are made.
type logTemplate struct {
	events, ofProject uint64
	copies            int
}

func (b *bench) template(t *testing.T) *logTemplate {
	t.Helper()
	l := &logTemplate{}
	require.NoError(t, b.ClickHouse.Exec(t.Context(), "CREATE TABLE template_log AS events_raw"))
	require.NoError(t, b.ClickHouse.Exec(t.Context(), "INSERT INTO template_log SELECT * FROM events_raw FINAL"))
	require.NoError(t, b.ClickHouse.QueryRow(t.Context(), "SELECT count(), maxIf(seq, startsWith(stream, 'project/')) FROM template_log").
		Scan(&l.events, &l.ofProject))
	kinds := column(t, b.ClickHouse, "SELECT DISTINCT concat(event_type, '') AS kind FROM template_log ORDER BY kind")
	t.Logf("the template has %d events of %d kinds: %s", l.events, len(kinds), strings.Join(kinds, ", "))
	return l
}

// projectsAtScale is how many projects the copies of the sessions are in.
const projectsAtScale = 20

// multiply fills the log with copies of the template until it has so many events. Each copy has sessions, a memory and
// ids of its own, and tasks that continue the stream of a project.
func (b *bench) multiply(t *testing.T, l *logTemplate, size int) {
	t.Helper()
	began := time.Now()
	const most = 1000
	for want := size / int(l.events); l.copies < want; {
		n := min(most, want-l.copies)
		require.NoError(t, b.ClickHouse.Exec(t.Context(), `INSERT INTO events_raw (event_id, stream, seq, event_type, ts, actor, session_id, project, build_id,
				dedupe_key, payload_json, payload_bytes, payload_redacted, sensitivity, checksum, recorded_at, precedence, heading, message_index)
			WITH leftPad(lower(hex(c.number + 1)), 8, '0') AS mark,
				replaceRegexpAll(payload_json, '[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})', concat(mark, '\\1')) AS payload
			SELECT concat(mark, substring(event_id, 9)),
				multiIf(startsWith(stream, 'project/'), concat('project/p', toString(c.number % ?)),
					startsWith(stream, 'memory/'), concat('memory/u', toString(c.number), '/'), concat(stream, '-', toString(c.number))),
				if(startsWith(stream, 'project/'), seq + intDiv(c.number, ?) * ?, seq), event_type, ts, actor, session_id, project, build_id,
				concat(dedupe_key, '-', toString(c.number)), payload, length(payload), payload_redacted, sensitivity,
				lower(hex(SHA256(payload))), recorded_at, precedence, heading, message_index
			FROM template_log AS e CROSS JOIN numbers(?, ?) AS c`,
			uint64(projectsAtScale), uint64(projectsAtScale), l.ofProject, uint64(l.copies), uint64(n)))
		l.copies += n
	}
	t.Logf("filled the log up to %d events in %.1f s", b.logged(t), time.Since(began).Seconds())
}

// incremental is how long it takes to project 100 new events of a session, as a worker does that has appended them: the
// quickest of a few times.
func (b *bench) incremental(t *testing.T, size, rounds int) time.Duration {
	t.Helper()
	log := projection.New(b.ClickHouse, eventlog.Options{})
	var events []schema.Event
	for e, err := range log.Replay(t.Context(), eventlog.ReplayOptions{}) {
		require.NoError(t, err)
		if strings.HasPrefix(e.Stream, schema.SessionPrefix) && slices.Contains([]string{schema.EntryMaterialized, schema.BuildStarted, schema.BuildFinished}, e.Type) {
			events = append(events, e)
		}
		if len(events) == 100 {
			break
		}
	}
	require.Len(t, events, 100)
	best := time.Hour
	for round := range rounds {
		stream := schema.SessionKey{Scope: schema.Scope{Project: b.project, User: "new"}, SessionID: fmt.Sprint(size, "-", round)}.Stream()
		for i := range events {
			events[i].DedupeKey = fmt.Sprint(stream, i)
			events[i].Stream, events[i].ID, events[i].Seq = "", "", 0
		}
		_, err := log.Append(t.Context(), stream, events)
		require.NoError(t, err)
		began, applied := time.Now(), 0
		for _, p := range b.projections() {
			if strings.HasPrefix(stream, p.StreamPrefix()) {
				done, err := log.Project(t.Context(), p, stream)
				require.NoError(t, err)
				applied += done.Events
			}
		}
		best = min(best, time.Since(began))
		require.GreaterOrEqual(t, applied, 100)
	}
	return best
}

// startMeasured starts the worker and returns its process id.
func startMeasured(t *testing.T, p program) (pid int, kill func()) {
	t.Helper()
	cmd := p.command(t)
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ready := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "worker is ready") {
				close(ready)
			}
		}
	}()
	<-ready
	return cmd.Process.Pid, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// residentMB is the memory of a process.
func residentMB(t *testing.T, pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skipf("read the memory of a process: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	require.NoError(t, err)
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// watchPeak watches the memory of a process until stop is called, which returns the most that it had.
func watchPeak(t *testing.T, pid int) (stop func() float64) {
	done, peak := make(chan struct{}), make(chan float64)
	go func() {
		most := 0.0
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				peak <- most
				return
			case <-ticker.C:
				most = max(most, residentMB(t, pid))
			}
		}
	}()
	return func() float64 {
		close(done)
		return <-peak
	}
}
