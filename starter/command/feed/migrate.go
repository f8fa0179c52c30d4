package feed

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/transcript/format"
	"axiommind/schema"
	"axiommind/starter/command"
)

func migrateCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "migrate SYSTEM FILE|DIR", Short: "take in the memory of another system: " + strings.Join(format.Migrated(), ", "),
		Example: "starter migrate mem0 memories.json --project demo --user ann\n" +
			"starter migrate basic-memory ~/basic-memory --user ann",
	}
	f := cmd.Flags()
	o := &ProcessOptions{}
	command.ScopeFlags(f, "the memories belong to", &o.Input.Project, &o.Input.User, &o.Input.Agent)
	f.BoolVar(&o.detach, "detach", false, "start and do not wait")
	f.BoolVar(&o.verbose, "verbose", false, "list the files of a directory that are not an export of the system")
	f.IntVar(&o.jobs, "jobs", schema.DefaultAtOnce, "sessions at a time")
	o.given = func() []string { return command.GivenFlags(f, "detach", "verbose", "output") }
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := command.OneOf("system", args[0], format.Migrated()); err != nil {
			return err
		}
		return o.migrate(ctx, a, args[0], args[1])
	})
}

func (o *ProcessOptions) migrate(ctx context.Context, a *command.App, system, path string) error {
	given := o.given
	o.flush, o.Input.Format = flushEnd, system
	o.given = func() []string { return append(given(), "--format="+system) }
	return process(ctx, a, o, path)
}

// Migrate processes the files of another system's memory as sessions of the scope.
func Migrate(ctx context.Context, a *command.App, system, path string, scope schema.Scope) error {
	o := &ProcessOptions{jobs: schema.DefaultAtOnce}
	o.Input.Project, o.Input.User, o.Input.Agent = scope.Project, scope.User, scope.Agent
	o.given = func() []string {
		return []string{"--project=" + scope.Project, "--user=" + scope.User, "--agent=" + scope.Agent}
	}
	return o.migrate(ctx, a, system, path)
}
