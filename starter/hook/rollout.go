package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxDays bounds the search for a Codex session: the number of latest days with sessions.
const maxDays = 31

// findRollout returns the file in which Codex keeps the session, because events do not always contain its path. The files
// are named sessions/2006/01/02/rollout-TIME-ID.jsonl below Codex's directory home.
func findRollout(home, id string) (string, error) {
	root := filepath.Join(home, "sessions")
	days := 0
	for _, year := range latest(root) {
		for _, month := range latest(year) {
			for _, day := range latest(month) {
				if days++; days > maxDays {
					return "", fmt.Errorf("find session %q of Codex: it is not among those of the last %d days in %q", id, maxDays, root)
				}
				for _, file := range latest(day) {
					name := filepath.Base(file)
					if strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, "-"+id+".jsonl") {
						return file, nil
					}
				}
			}
		}
	}
	return "", fmt.Errorf("find session %q of Codex: it is not in %q", id, root)
}

// latest returns the paths of a directory's entries in reverse order of their names.
func latest(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range slices.Backward(entries) {
		out = append(out, filepath.Join(dir, e.Name()))
	}
	return out
}

// codexHome returns Codex's directory.
func codexHome(getenv func(string) string) (string, error) {
	if dir := getenv("CODEX_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the directory of Codex: %w", err)
	}
	return filepath.Join(home, ".codex"), nil
}
