package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/pflag"

	"axiommind/deploy/simulate/queueing"
)

// world is how the system is used, on which machines, and at which prices.
type world struct {
	Searches  float64 `json:"searches_a_session"`
	Contexts  float64 `json:"contexts_a_session"`
	Peak      float64 `json:"peak"`
	Cores     int     `json:"cores"`
	Disk      float64 `json:"disk_gib"`
	Load      float64 `json:"load"`
	Days      float64 `json:"days"`
	Retention float64 `json:"retention_days"`
	Replicas  int     `json:"replicas"`
	Parts     float64 `json:"appends_a_second"`
	TokensIn  float64 `json:"tokens_in"`
	TokensOut float64 `json:"tokens_out"`
	Machine   float64 `json:"price_machine_hour"`
	Storage   float64 `json:"price_gib_month"`
	PriceIn   float64 `json:"price_million_in"`
	PriceOut  float64 `json:"price_million_out"`
}

func usual() world {
	return world{
		Searches: 5, Contexts: 5, Peak: 4, Cores: 16, Disk: 2000, Load: 0.6, Days: 365, Retention: 30, Replicas: 3, Parts: 10,
	}
}

func (w *world) flags(f *pflag.FlagSet) {
	f.Float64Var(&w.Searches, "searches", w.Searches, "searches for each session")
	f.Float64Var(&w.Contexts, "contexts", w.Contexts, "texts for a prompt for each session")
	f.Float64Var(&w.Peak, "peak", w.Peak, "how many times the mean the busiest hour has")
	f.IntVar(&w.Cores, "cores", w.Cores, "cores of a machine")
	f.Float64Var(&w.Disk, "disk", w.Disk, "disk of a machine in GiB")
	f.Float64Var(&w.Load, "load", w.Load, "share of the cores and disks to be used at the peak")
	f.Float64Var(&w.Days, "days", w.Days, "days whose sessions are kept")
	f.Float64Var(&w.Retention, "retention", w.Retention, "days that Temporal keeps ended workflows")
	f.IntVar(&w.Replicas, "replicas", w.Replicas, "copies of each store")
	f.Float64Var(&w.Parts, "appends", w.Parts, "appends a second that a shard of ClickHouse takes (measured for seconds; its documentation advises about one into a table)")
	f.Float64Var(&w.TokensIn, "tokens-in", w.TokensIn, "tokens that a model reads for a session (0: the offline extractor)")
	f.Float64Var(&w.TokensOut, "tokens-out", w.TokensOut, "tokens that a model writes for a session")
	f.Float64Var(&w.Machine, "price-machine", w.Machine, "price of a machine for an hour (0: no cost is reckoned)")
	f.Float64Var(&w.Storage, "price-storage", w.Storage, "price of a GiB for a month")
	f.Float64Var(&w.PriceIn, "price-in", w.PriceIn, "price of a million tokens read")
	f.Float64Var(&w.PriceOut, "price-out", w.PriceOut, "price of a million tokens written")
}

func (w *world) check() error {
	for name, v := range map[string]float64{
		"searches": w.Searches, "contexts": w.Contexts, "tokens-in": w.TokensIn, "tokens-out": w.TokensOut, "price-machine": w.Machine,
		"price-storage": w.Storage, "price-in": w.PriceIn, "price-out": w.PriceOut, "retention": w.Retention,
	} {
		if !(v >= 0 && v <= 1e12) {
			return fmt.Errorf("--%s %v: want 0 to 1e12", name, v)
		}
	}
	switch {
	case !(w.Load > 0 && w.Load < 1):
		return fmt.Errorf("--load %v: want more than 0 and less than 1", w.Load)
	case !(w.Peak >= 1 && w.Peak <= 1e6):
		return fmt.Errorf("--peak %v: want 1 to 1e6", w.Peak)
	case !(w.Disk >= 1 && w.Disk <= 1e12) || !(w.Days >= 1 && w.Days <= 1e6) || !(w.Parts >= 0.01 && w.Parts <= 1e6):
		return fmt.Errorf("--disk: want 1 to 1e12; --days: want 1 to 1e6; --appends: want 0.01 to 1e6")
	case w.Cores < 1 || w.Cores > 1e6 || w.Replicas < 1 || w.Replicas > 100:
		return fmt.Errorf("--cores: want 1 to 1e6; --replicas: want 1 to 100")
	}
	return nil
}

const (
	gib    = 1 << 30
	aDay   = 86_400.0
	aMonth = 730.0 // hours
)

// seconds is the CPU that a process uses for a session with its searches and texts.
func (w world) seconds(m *queueing.Measured, process string) float64 {
	ms := m.Session.CPU[process] + w.Searches*m.Requests["search"].CPU[process] + w.Contexts*m.Requests["context"].CPU[process]
	return ms / 1e3
}

// kept is the number of days whose sessions a store keeps.
func (w world) kept(store string) float64 {
	if store == "temporal" {
		return w.Retention
	}
	return w.Days
}

// limit is the number of sessions at which one machine has used up a resource.
type limit struct {
	Name string `json:"name"`
	// PerDay is in sessions a day, and Setting moves it.
	PerDay  float64 `json:"sessions_a_day"`
	Setting string  `json:"setting"`
}

// settings move the limits of processes.
var settings = map[string]string{
	"clickhouse": "more shards (`cluster`); each has streams of its own",
	"temporal":   "a server with a database of its own; its number of history shards is fixed at its first start",
	"weaviate":   "more nodes: each project is a shard of its own",
	"worker":     "more workers (`replicas` of the chart); embeddings by a server with a GPU (`embedder`)",
}

// limits returns the limits of one machine for each process, the least first: these are the bottlenecks in their order.
func limits(m *queueing.Measured, w world) []limit {
	var out []limit
	for _, p := range queueing.Processes {
		if s := w.seconds(m, p); s > 0 {
			out = append(out, limit{"CPU of the " + p, w.Load * float64(w.Cores) / s / w.Peak * aDay, settings[p]})
		}
	}
	for _, store := range []string{"clickhouse", "temporal", "weaviate"} {
		if bytes := m.Bytes[store]; bytes > 0 {
			setting := "more disk or shards; only `forget` removes sessions"
			if store == "temporal" {
				setting = "the namespace's retention"
			}
			out = append(out, limit{"disk of the " + store, w.Load * w.Disk * gib / bytes / w.kept(store), setting})
		}
	}
	if m.Appends > 0 {
		out = append(out, limit{"appends to a shard", w.Parts / m.Appends / w.Peak * aDay, "more shards (`cluster`), each with the streams of other users and projects"})
	}
	slices.SortStableFunc(out, func(a, b limit) int {
		switch {
		case a.PerDay < b.PerDay:
			return -1
		case a.PerDay > b.PerDay:
			return 1
		}
		return 0
	})
	return out
}

// need is the need of a process at a number of sessions a day.
type need struct {
	Process string `json:"process"`
	// Busy is in cores, at the peak. Machines includes the copies.
	Busy     float64 `json:"busy_cores"`
	Machines int     `json:"machines"`
	// By says which resource decides the number: CPU, disk or appends.
	By      string  `json:"by"`
	DiskGiB float64 `json:"disk_gib,omitempty"`
}

// planned is the need for a number of sessions a day.
type planned struct {
	PerDay float64 `json:"sessions_a_day"`
	// Peak is in sessions a second.
	Peak  float64 `json:"peak_a_second"`
	Needs []need  `json:"needs"`
	// Seconds is the mean time of a session at the peak.
	Seconds float64 `json:"seconds_a_session"`
	// Inserts, History and Vectors are a second's, at the peak.
	Inserts float64 `json:"inserts_a_second"`
	History float64 `json:"history_events_a_second"`
	Vectors float64 `json:"vectors_a_second"`
	// TokensIn and TokensOut are a minute's, at the peak.
	TokensIn  float64 `json:"tokens_in_a_minute"`
	TokensOut float64 `json:"tokens_out_a_minute"`
	// OneMachine is true if one machine like the measured one, with the disk, bears it all, without copies. Its cost is that of one.
	OneMachine bool `json:"one_machine"`
	// Machines, Storage and Model are costs of a month, in the currency of the prices.
	Machines float64 `json:"cost_machines"`
	Storage  float64 `json:"cost_storage"`
	Model    float64 `json:"cost_model"`
}

// plan reckons the machines for a number of sessions a day.
func plan(m *queueing.Measured, w world, perDay float64) planned {
	p := planned{PerDay: perDay, Peak: perDay / aDay * w.Peak, Seconds: m.Session.Delay()}
	total, disk, machines := 0.0, 0.0, 0
	together := min(1, m.Session.Ms/1e3/m.Session.All()) // Processes work for a session at the same time.
	for _, name := range queueing.Processes {
		s := w.seconds(m, name)
		n := need{Process: name, Busy: p.Peak * s, By: "CPU"}
		n.Machines = queueing.Machines(p.Peak, s, w.Cores, w.Load)
		atLeast := func(amount, ofOne float64, by string) {
			if k := int(math.Ceil(amount / (w.Load * ofOne))); k > n.Machines {
				n.Machines, n.By = k, by
			}
		}
		n.DiskGiB = m.Bytes[name] * perDay * w.kept(name) / gib
		atLeast(n.DiskGiB, w.Disk, "disk")
		if name == "clickhouse" {
			if k := int(math.Ceil(p.Peak * m.Appends / w.Parts)); k > n.Machines {
				n.Machines, n.By = k, "appends"
			}
		}
		seconds, _ := queueing.Open(p.Peak, n.Machines*w.Cores, s, 0)
		p.Seconds += together * seconds * share(m.Session.CPU[name]/1e3, s)
		if name != "worker" { // Workers keep nothing.
			n.Machines *= w.Replicas
			n.DiskGiB *= float64(w.Replicas)
		}
		total += n.Busy
		disk += n.DiskGiB
		machines += n.Machines
		p.Needs = append(p.Needs, n)
	}
	p.OneMachine = total <= w.Load*float64(m.Cores) && disk/float64(w.Replicas) <= w.Load*w.Disk
	if p.OneMachine {
		machines = 1
	}
	p.Inserts, p.History, p.Vectors = p.Peak*m.Inserts, p.Peak*m.History, p.Peak*m.Vectors
	p.TokensIn, p.TokensOut = 60*p.Peak*w.TokensIn, 60*p.Peak*w.TokensOut
	p.Machines, p.Storage = float64(machines)*aMonth*w.Machine, disk*w.Storage
	p.Model = perDay * aMonth / 24 * (w.TokensIn*w.PriceIn + w.TokensOut*w.PriceOut) / 1e6
	return p
}

// share is the part of a process's time that is the session's own, without its searches.
func share(session, all float64) float64 {
	if all == 0 {
		return 0
	}
	return session / all
}
