package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearest returns the names that begin with the word, or are a typing error away from it.
func nearest(word string, names []string) []string {
	if word == "" {
		return nil
	}
	c := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		c.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return c.SuggestionsFor(word)
}

// didYouMean is the question that follows an unknown name, or "" if no name is near.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(names, " or ") + "?)"
}

// valueError explains in words an error about the value of a flag, and returns others as they are.
func valueError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	if _, parseErr := strconv.ParseBool(invalid.GetValue()); invalid.GetFlag().Value.Type() == "bool" && parseErr != nil {
		return fmt.Errorf("--%s %q: want true or false", invalid.GetFlag().Name, invalid.GetValue())
	}
	return err
}

// version is the module's version, or else the revision of its source, and Go's version.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	revision = revision[:min(12, len(revision))]
	name := strings.TrimPrefix(info.Main.Version, "(devel)")
	switch {
	case name == "" && revision == "":
		name = "unknown version"
	case name == "":
		name = "revision " + revision
	case revision != "" && !strings.Contains(name, revision):
		name += " revision " + revision
	}
	if settings["vcs.modified"] == "true" {
		name += ", modified"
	}
	return name + " (" + cmp.Or(info.GoVersion, runtime.Version()) + ")"
}
