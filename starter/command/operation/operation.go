// Package operation has the commands that check and repair the servers.
package operation

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		doctorCommand(a), a.Parent("config", "show the settings", configShowCommand(a)), rebuildCommand(a),
		a.Parent("embedder", "show the embedder of searches", embedderStatusCommand(a)), reconcileCommand(a),
	}
}
