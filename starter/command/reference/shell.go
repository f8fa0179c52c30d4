package reference

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// installCompletion explains how to install the completions in a shell.
const installCompletion = `Values come with it: projects, users, agents, sessions, statuses, and the ids of entries, tasks, conditions,
artifacts, proposals and builds with their titles. These are asked of ClickHouse; where it does not answer within a
second there are none. Names that a shell would not take as they are, such as those with spaces, are left out.
starter must be on the PATH: go build -o ~/bin/starter ./starter

bash, which needs the package bash-completion, for this shell and for all:
  source <(starter completion bash)
  starter completion bash > ~/.local/share/bash-completion/completions/starter
zsh, into a directory of your fpath; then run compinit again:
  starter completion zsh > "${fpath[1]}/_starter"
fish:
  starter completion fish > ~/.config/fish/completions/starter.fish
PowerShell, in your profile:
  starter completion powershell | Out-String | Invoke-Expression`

func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// completionCommand writes the completion script for a shell.
func completionCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "completion SHELL", Short: "print the completion script of a shell",
		Long:    installCompletion,
		Example: "starter completion bash",
	}
	cmd.ValidArgsFunction = a.Arguments(command.Fixed(shells()...))
	return a.Offline(cmd, func(_ context.Context, args []string) error {
		root := a.Root
		var err error
		switch args[0] {
		case "bash":
			err = root.GenBashCompletionV2(a.Exact, true)
		case "zsh":
			err = root.GenZshCompletion(a.Exact)
		case "fish":
			err = root.GenFishCompletion(a.Exact, true)
		case "powershell":
			err = root.GenPowerShellCompletionWithDesc(a.Exact)
		default:
			return command.Usagef("shell %q: want one of %s", args[0], strings.Join(shells(), ", "))
		}
		if err != nil {
			return fmt.Errorf("write completion for %s: %w", args[0], err)
		}
		return nil
	})
}
