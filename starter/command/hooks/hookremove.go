package hooks

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/starter/command"
	"axiommind/starter/hook"
	"axiommind/starter/hook/install"
)

func hookRemoveCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove AGENT", Short: "take the hooks out of an agent's settings again",
		Example: "starter hook remove claude-code",
	}
	f := cmd.Flags()
	o := &hookSettings{}
	o.add(a, f)
	cmd.ValidArgsFunction = a.Arguments(command.Fixed(hook.Agents()...))
	return a.Offline(cmd, func(_ context.Context, args []string) error {
		agent := args[0]
		if err := checkAgent(agent); err != nil {
			return err
		}
		return changeHooks(a, o, agent, "", func(text []byte) ([]byte, error) { return install.Remove(agent, text) })
	})
}
