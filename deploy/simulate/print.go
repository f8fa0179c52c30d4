package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"axiommind/deploy/simulate/queueing"
)

// report is everything that the program says.
type report struct {
	Measured *queueing.Measured    `json:"measured"`
	World    world                 `json:"world"`
	Check    []queueing.Prediction `json:"check"`
	Limits   []limit               `json:"limits"`
	Plans    []planned             `json:"plans"`
}

func (r report) print(out io.Writer) error {
	var b strings.Builder
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format, args...) }
	m, w := r.Measured, r.World
	say("Measured on %s: a session alone takes %.0f ms; one among 1 to %d takes %.0f ms of CPU", m.Machine, m.Session.Ms, m.Sessions[len(m.Sessions)-1].AtOnce, 1e3*m.Session.All())
	sep := " ("
	for _, p := range queueing.Processes {
		say("%s%s %.0f", sep, p, m.Session.CPU[p])
		sep = ", "
	}
	say(").\nIt has %.0f INSERTs, %.0f of them appends to the log, %.0f vectors, %.0f events of history", m.Inserts, m.Appends, m.Vectors, m.History)
	for _, store := range []string{"clickhouse", "temporal", "weaviate"} {
		say(", %s of %s", size(m.Bytes[store]), store)
	}
	say("; a search takes %.0f ms and %.0f ms of CPU.\n", m.Requests["search"].Ms, 1e3*m.Requests["search"].All())

	say("\nThe model beside the measurement. It is told of the runs with 1 and with up to 4 in flight:\n\n")
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line(tw, "in flight", "cores left", "sessions/s", "predicted", "off by")
	for _, c := range r.Check {
		line(tw, fmt.Sprint(c.AtOnce), fmt.Sprintf("%.1f", c.Free), fmt.Sprintf("%.2f", c.PerSecond()), fmt.Sprintf("%.2f", c.Predicted), fmt.Sprintf("%+.0f %%", 100*c.Off()))
	}
	_ = tw.Flush()

	say("\nOne machine for each process (%d cores, %g GiB of disk), at %.0f %% in an hour of %g times the mean, with %g searches and\n"+
		"%g texts for a session and sessions of %g days, takes this many sessions a day. The next bottleneck is the first:\n\n",
		w.Cores, w.Disk, 100*w.Load, w.Peak, w.Searches, w.Contexts, w.Days)
	for _, l := range r.Limits {
		say("  %-22s %9s   %s\n", l.Name, short(l.PerDay), l.Setting)
	}
	for _, p := range r.Plans {
		p.print(&b, w)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (p planned) print(b *strings.Builder, w world) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(b, format, args...) }
	say("\n%s sessions a day, %s a second at the peak", short(p.PerDay), short(p.Peak))
	if p.OneMachine {
		say(": one machine like the measured one bears it. With copies of the stores")
	}
	say(".\n\n")
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line(tw, "process", "busy cores", "machines", "decided by", "disk")
	for _, n := range p.Needs {
		disk := ""
		if n.DiskGiB > 0 {
			disk = size(n.DiskGiB * gib)
		}
		line(tw, n.Process, short(n.Busy), short(float64(n.Machines)), n.By, disk)
	}
	_ = tw.Flush()
	say("\n  A session takes %.2f s. ClickHouse has %s INSERTs a second, Temporal %s history events, Weaviate %s new vectors.\n",
		p.Seconds, short(p.Inserts), short(p.History), short(p.Vectors))
	if w.TokensIn+w.TokensOut > 0 {
		say("  The model reads %s tokens a minute and writes %s.\n", short(p.TokensIn), short(p.TokensOut))
	}
	if cost := p.Machines + p.Storage + p.Model; cost > 0 {
		say("  A month costs %s: machines %s, storage %s, model %s; %s for a thousand sessions.\n",
			short(cost), short(p.Machines), short(p.Storage), short(p.Model), short(cost/(p.PerDay*aMonth/24/1e3)))
	}
}

func line(w io.Writer, cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }

// short prints a number with three digits.
func short(v float64) string {
	switch {
	case v == math.Trunc(v) && v < 1e5:
		return fmt.Sprintf("%.0f", v)
	case v >= 1e9:
		return fmt.Sprintf("%.3g billion", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.3g million", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0f", v)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// size prints a number of bytes.
func size(bytes float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	n := 0
	for ; bytes >= 1024 && n < len(units)-1; n++ {
		bytes /= 1024
	}
	return fmt.Sprintf("%.3g %s", bytes, units[n])
}
