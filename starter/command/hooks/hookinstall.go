package hooks

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/hook"
	"axiommind/starter/hook/install"
	"axiommind/worker/settings"
)

func hookInstallCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "install AGENT", Short: "write the hooks into an agent's settings, after showing the change",
		Example: "starter hook install claude-code\n" +
			"starter hook install codex --project shop --user ann --yes",
	}
	f := cmd.Flags()
	o := &hookSettings{}
	command.ScopeFlags(f, "the memories belong to", &o.hook.Project, &o.hook.User, &o.hook.Agent)
	f.BoolVar(&o.noAnswer, "no-answers", false, "only enqueue transcripts; give the agent no memories")
	f.IntVar(&o.hook.MaxTokens, "max-tokens", schema.DefaultMaxTokens, "most tokens of an answer, estimated")
	f.StringVar(&o.programsDir, "programs", "", "directory of axhook and axcontext (default: that of starter, else the PATH)")
	o.add(a, f)
	cmd.ValidArgsFunction = a.Arguments(command.Fixed(hook.Agents()...))
	return a.Offline(cmd, func(_ context.Context, args []string) error {
		agent := args[0]
		if err := checkAgent(agent); err != nil {
			return err
		}
		if err := fromVariables(f, a.Getenv, "project", "user", "agent"); err != nil {
			return command.BadUsage(err)
		}
		if err := o.hook.Check(); err != nil {
			return command.BadUsage(err)
		}
		enqueue, answer, err := o.programs()
		if err != nil {
			return err
		}
		flags := []string{"--project", o.hook.Project, "--user", o.hook.User}
		if o.hook.Agent != "" {
			flags = append(flags, "--agent", o.hook.Agent)
		}
		if o.noAnswer {
			answer = nil
		} else if o.hook.MaxTokens != schema.DefaultMaxTokens {
			flags = append(flags, "--max-tokens", strconv.Itoa(o.hook.MaxTokens))
		}
		hooks := install.Hooks(agent, enqueue, answer, flags)
		return changeHooks(a, o, agent, hookNotes(a, o, agent), func(text []byte) ([]byte, error) { return install.Add(agent, text, hooks) })
	})
}

// hookNotes returns lines that say which sessions the installed hooks remember, and how to import the earlier ones. Hooks in
// a file of their own are those of one repository, whose sessions are not told apart here.
func hookNotes(a *command.App, o *hookSettings, agent string) string {
	dir, err := install.SessionsDir(agent, a.Getenv)
	if o.settings != "" || err != nil {
		return ""
	}
	process := []string{"process", dir, "--project", o.hook.Project}
	if o.hook.User != "default" {
		process = append(process, "--user", o.hook.User)
	}
	if o.hook.Agent != "" {
		process = append(process, "--agent", o.hook.Agent)
	}
	return "\nfrom now on, the sessions in every repository become memory of project " + command.Unbroken(o.hook.Project) +
		"\nimport earlier sessions: " + build.Command(process...)
}

// fromVariables fills some of the flags from the environment.
func fromVariables(f *pflag.FlagSet, getenv func(string) string, names ...string) error {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range names {
		some.AddFlag(f.Lookup(name))
	}
	_, err := settings.File{}.Fill(some, getenv)
	return err
}
