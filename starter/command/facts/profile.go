package facts

import (
	"slices"
	"strings"

	"axiommind/schema"
	"axiommind/starter/command"
)

func oneOfSections(name string) error {
	if slices.Contains(schema.ProfileSections(), name) {
		return nil
	}
	return command.Usagef("section %q: want one of %s", name, strings.Join(schema.ProfileSections(), ", "))
}
