package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"axiommind/activities/llm"
	"axiommind/activities/text"
	"axiommind/worker/settings"
)

// Show returns the settings that the program has, and the keys of the servers and of the chosen providers, without any secret.
// [Config.Load] must have been called.
func (c *Config) Show() []settings.Effective {
	list := settings.Show(c.flags, c.Settings(), c.sources)
	keys := []string{settings.TemporalAPIKey, settings.WeaviateAPIKey, summarySecret, llm.KeyVariable(c.Model.Provider), llm.KeyVariable(c.Embedder.Provider)}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		switch source := c.sources[key]; {
		case source != "":
			list = append(list, settings.Effective{Name: key, Value: settings.Masked, Source: source})
		case key != "":
			list = append(list, settings.Effective{Name: key, Source: settings.SourceDefault, Absent: "none"})
		}
	}
	return list
}

// ConfigShow is the worker's command that prints its settings.
type ConfigShow struct{ output string }

// Flags adds the flags of the command.
func (s *ConfigShow) Flags(f *pflag.FlagSet) {
	f.StringVarP(&s.output, "output", "o", "text", "text or json")
}

// Run prints the settings. It asks no server.
func (s *ConfigShow) Run(_ context.Context, cfg Config, _ *slog.Logger, out io.Writer) error {
	switch s.output {
	case "json":
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(cfg.Show())
	case "text":
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "SETTING\tVALUE\tSOURCE")
		for _, e := range cfg.Show() {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, text.Visible(e.Text()), text.Visible(e.Source))
		}
		return w.Flush()
	}
	return fmt.Errorf("--output %q: want text or json", s.output)
}
