// Package privacy has the commands that erase data and read originals.
package privacy

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		command.With(forgetCommand(a), forgetListCommand(a), forgetLiftCommand(a)),
		a.Parent("session", "", sessionRawCommand(a)), codecServerCommand(a),
	}
}
