package dreams

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/entry"
	"axiommind/activities/fact"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
)

// Kinds of sources without a day.
const (
	sourceVersion = "version"
	sourceUnknown = "unknown"
)

// source is the origin of an item of core memory.
type source struct {
	// Kind is one of the kinds of [schema.SourceKind], "version" for a version that a person edited, or "unknown".
	Kind string `json:"kind"`
	// Text is the title of an entry, or the content of a fact.
	Text string `json:"text,omitempty"`
	// Date and Clock are set for a daily record.
	Date  string `json:"date,omitempty"`
	Clock string `json:"clock,omitempty"`
	// Project and SessionID are empty for text that a person wrote.
	Project   string `json:"project,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	// Summarizer is the model that wrote the summary in a daily record.
	Summarizer string `json:"summarizer,omitempty"`
	// Version is the version of core memory.
	Version int `json:"version,omitempty"`
}

// findSources returns the sources of the items by id. It runs at most three queries for any number of items.
func findSources(ctx context.Context, conn driver.Conn, o *command.Owner, items []schema.CoreItem) (map[string]source, error) {
	out := map[string]source{}
	for _, item := range items {
		for _, id := range item.Sources {
			out[id] = source{Kind: sourceUnknown}
		}
	}
	unknown := func() (ids []string) {
		for id, s := range out {
			if s.Kind == sourceUnknown {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		return ids
	}
	origins, err := tier.NewTables(conn).Origins(ctx, o.User, o.Agent, unknown())
	if err != nil {
		return nil, err
	}
	for id, of := range origins {
		out[id] = sourceOf(of)
	}
	facts, err := fact.NewTables(conn).Find(ctx, o.User, o.Agent, unknown())
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		out[f.ID] = source{Kind: string(schema.SourceFact), Text: f.Content, Project: f.Project, SessionID: f.SessionID}
	}
	entries, err := entry.NewReader(conn).Read(ctx, entry.OfMemory(o.User, o.Agent).IDs(unknown()), entry.Statement)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		out[e.ID] = source{Kind: string(schema.SourceEntry), Text: e.Title, Project: e.Project, SessionID: e.SessionID}
	}
	return out, nil
}

func sourceOf(o tier.Origin) source {
	s := source{
		Kind: string(schema.SourceRecord), Date: o.Date, Clock: o.Clock, Project: o.Project, SessionID: o.SessionID,
		Summarizer: o.Summarizer, Version: o.Version,
	}
	switch {
	case o.Version > 0:
		s.Kind = sourceVersion
	case o.Edited:
		s.Kind = string(schema.SourceEdited)
	}
	return s
}

// String describes the source for people.
func (s source) String() string {
	text := "known to nothing that is stored"
	switch s.Kind {
	case string(schema.SourceRecord):
		text = "daily record of " + strings.TrimSpace(s.Date+" "+s.Clock)
		if s.Summarizer != "" {
			text += ", summarized by " + s.Summarizer
		}
	case string(schema.SourceEdited):
		text = "daily record of " + s.Date + ", as a person edited it"
	case sourceVersion:
		text = fmt.Sprintf("version %d, as a person edited it", s.Version)
	case string(schema.SourceEntry), string(schema.SourceFact):
		text = fmt.Sprintf("%s “%s”", s.Kind, command.OneLine(s.Text, 80))
	}
	if s.SessionID != "" {
		text += fmt.Sprintf(", session %s in project %s", s.SessionID, s.Project)
	}
	return text
}

// printSources lists the items, each with its sources, the oldest first.
func printSources(b *strings.Builder, items []schema.CoreItem, found map[string]source) {
	for i, item := range items {
		if i == 0 || item.Heading != items[i-1].Heading {
			if i > 0 {
				b.WriteString("\n")
			}
			if item.Heading != "" {
				command.Say(b, "%s\n", command.OneLine(tier.HeadingLine(item.Heading), 120))
			}
		}
		command.Block(b, "  │ ", item.Text)
		for _, id := range item.Sources {
			command.Say(b, "    %s  %s\n", command.OneLine(id, 60), found[id])
		}
		if len(item.Sources) == 0 {
			b.WriteString("    no source is recorded\n")
		}
	}
}
