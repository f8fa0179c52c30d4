package service

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxVersionName is the maximum size of a build id and of a deployment's name, in bytes. The server joins them in the id
// of a workflow, which may have 1000 bytes.
const maxVersionName = 200

func (c *Config) setBuildID(text string) error {
	c.BuildID = text
	return checkVersionName(text, ":")
}

func (c *Config) setDeployment(text string) error {
	c.Deployment = text
	return checkVersionName(text, ":.")
}

// checkVersionName refuses names that the server would refuse once the worker polls, or that no command line takes.
func checkVersionName(text, forbidden string) error {
	switch {
	case text == "" || len(text) > maxVersionName:
		return fmt.Errorf("want 1 to %d bytes", maxVersionName)
	case strings.HasPrefix(text, "__"):
		return errors.New("want a name that does not begin with __")
	case strings.ContainsAny(text, forbidden):
		return fmt.Errorf("want a name without %s", strings.Join(strings.Split(forbidden, ""), " and "))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }):
		return errors.New("want a name without spaces and control characters")
	}
	return nil
}
