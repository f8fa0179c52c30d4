// Package evaluation has the commands that measure retrieval.
package evaluation

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		a.Parent("eval", "measure retrieval by questions with known answers", evalRetrievalCommand(a), evalImportCommand(a)),
	}
}
