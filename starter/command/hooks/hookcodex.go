package hooks

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
	"axiommind/starter/hook"
)

func hookCodexCommand(a *command.App) *cobra.Command {
	return hookCommand(a, hook.Codex, &cobra.Command{
		Use: "codex [EVENT]", Short: "run by Codex: enqueue its transcript, or answer with memories",
		Long: hookDetails,
	})
}
