package format

import (
	"path"
	"slices"
	"strings"
)

// sessionName derives a session's id from the path of its source.
func sessionName(name string) string {
	if name == "" {
		return ""
	}
	dir, file := path.Split(path.Clean(strings.ReplaceAll(name, `\`, "/")))
	base := strings.TrimLeft(file, ".")
	for _, ext := range []string{".gz", ".zst", ".zstd", ".jsonl", ".json", ".txt", ".md", ".sql", ".db", ".messages"} {
		base = strings.TrimSuffix(base, ext)
	}
	if !anyFormat(func(f *Format) bool { return slices.Contains(f.sameNames, base) }) {
		return base
	}
	for dir = path.Clean(dir); dir != "." && dir != "/"; dir = path.Dir(dir) {
		up := path.Base(dir)
		if up != ".." && !anyFormat(func(f *Format) bool { return slices.Contains(f.sameDirs, up) }) {
			return up
		}
	}
	return base
}

func anyFormat(is func(f *Format) bool) bool {
	for i := range registry {
		if is(&registry[i]) {
			return true
		}
	}
	return false
}
