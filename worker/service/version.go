package service

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// release is the version of a release. The linker sets it: -ldflags "-X axiommind/worker/service.release=v1.2.3".
var release string

// Version returns the version of the program and of Go. It is that of the release, or the module version if the program was built
// from a module, or else the revision of the source and whether it was modified.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version(info, release)
}

// develVersion is the version that Go gives to a module built from a directory.
const develVersion = "(devel)"

func version(info *debug.BuildInfo, release string) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	revision = revision[:min(12, len(revision))]
	name := cmp.Or(release, strings.TrimPrefix(info.Main.Version, develVersion))
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
