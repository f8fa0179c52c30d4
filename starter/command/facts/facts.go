// Package facts has the commands of facts and profiles.
package facts

import (
	"strings"

	"github.com/spf13/cobra"

	"axiommind/schema"
	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		command.With(listCommand(a), command.Repeated(listCommand(a), "list"), showCommand(a), addCommand(a), updateCommand(a),
			deleteCommand(a), historyCommand(a), exportCommand(a), importCommand(a), clearCommand(a)),
		a.Parent("profile", "show and change the profile of a user: "+strings.Join(schema.ProfileSections(), ", "),
			profileShowCommand(a), profileSetCommand(a), profileClearCommand(a)),
	}
}
