package build

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"axiommind/schema"
)

// again returns the command that processes the build's session again.
func again(b schema.BuildStartedPayload) string {
	path := b.Source.URI
	if strings.Contains(path, "://") {
		u, err := url.Parse(path)
		if err != nil {
			u = &url.URL{}
		}
		path = filepath.FromSlash(u.Path)
	}
	if path == "" {
		return "process the session again: start its workflow with the same input"
	}
	args := []string{"process", path, "--session", b.SessionID, "--project", b.Project, "--user", b.User}
	if b.Agent != "" {
		args = append(args, "--agent", b.Agent)
	}
	if b.Spec.Extractor.Tools {
		args = append(args, "--include-tools")
	}
	return "process the session again: " + Command(args...)
}

// plainWord matches text that a shell takes as one word without quotes.
var plainWord = regexp.MustCompile(`^[\pL\pN/_.,:@%+=-]+$`)

// Command returns the starter's command line with the arguments, quoted for a shell.
func Command(args ...string) string {
	words := []string{"starter"}
	for _, arg := range args {
		if !plainWord.MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
