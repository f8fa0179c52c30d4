package service

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version says which build of AxiomMind this program is, and which Go made it: the version of the module where
// it was built from one, else the revision of the sources, and whether these were modified.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version(info)
}

// develVersion is what Go calls the version of a module that was built from a directory.
const develVersion = "(devel)"

func version(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	revision = revision[:min(12, len(revision))]
	name := strings.TrimPrefix(info.Main.Version, develVersion)
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
