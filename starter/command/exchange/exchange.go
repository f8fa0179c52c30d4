// Package exchange has the commands that move memory between installations and from other systems.
package exchange

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{exportCommand(a), importCommand(a), backupCommand(a), restoreCommand(a)}
}
