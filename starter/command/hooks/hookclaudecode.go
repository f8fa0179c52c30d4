package hooks

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
	"axiommind/starter/hook"
)

func hookClaudeCodeCommand(a *command.App) *cobra.Command {
	return hookCommand(a, hook.ClaudeCode, &cobra.Command{
		Use: "claude-code", Short: "run by Claude Code: enqueue its transcript, or answer with memories",
		Long: hookDetails,
	})
}
