// Package truth has the commands of contradictions, proposals, decisions and checks of evidence.
package truth

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		graduateCommand(a),
		command.With(conflictsCommand(a), command.Repeated(conflictsCommand(a), "list"), conflictsShowCommand(a), conflictsFindCommand(a),
			conflictsResolveCommand(a)),
		command.With(proposalsCommand(a), command.Repeated(proposalsCommand(a), "list"), proposalsAcceptCommand(a), proposalsRejectCommand(a)),
		command.With(decisionsCommand(a), command.Repeated(decisionsCommand(a), "list"), decisionsShowCommand(a), decisionsRecordCommand(a)),
		verifyCommand(a), realignCommand(a),
	}
}
