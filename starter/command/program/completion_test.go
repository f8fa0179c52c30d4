package program_test

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for shell, check := range map[string][]string{
		"bash":       {"bash", "-n"},
		"zsh":        {"zsh", "-n"},
		"fish":       {"fish", "--no-execute"},
		"powershell": {"pwsh", "-NoProfile", "-Command", "$e = $null; [void][Management.Automation.Language.Parser]::ParseInput([Console]::In.ReadToEnd(), [ref]$null, [ref]$e); exit $e.Count"},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			script := commandtest.Offline("completion", shell)
			require.Equal(t, command.ExitOK, script.Code, script)
			require.Contains(t, script.Out, "__complete")
			program, err := exec.LookPath(check[0])
			if err != nil {
				t.Skipf("%s is not installed: the syntax of its script is not checked", check[0])
			}
			command := exec.CommandContext(t.Context(), program, check[1:]...)
			command.Stdin = strings.NewReader(script.Out)
			out, err := command.CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
	o := commandtest.Offline("completion", "tcsh")
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Err, `shell "tcsh": want one of bash, zsh, fish, powershell`)
}

// Every argument is completed, or is known to be a file or free text. Each table contains only existing names.
func TestCompletionTables(t *testing.T) {
	t.Parallel()
	words, flags := map[string]bool{}, map[string]bool{}
	for _, c := range commandtest.Commands() {
		for i := range command.Arguments(c) {
			word := command.Argument(c, i)
			words[word] = true
			_, known := command.ArgumentValues[word]
			_, file := command.FileArguments[word]
			own := reflect.ValueOf(c.ValidArgsFunction).Pointer() != reflect.ValueOf(new(command.App).CompleteArguments).Pointer()
			require.True(t, known || file || own, "say how %s is completed", word)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for word := range command.ArgumentValues {
		require.True(t, words[word], "no command takes %s", word)
	}
	for _, word := range command.IDs {
		_, known := command.ArgumentValues[word]
		require.True(t, known || word == "SCHEDULE", word)
	}
	for flag := range command.FlagValues {
		require.True(t, flags[flag], "no command has the flag %s", flag)
	}
}

// Fixed values are completed without a server. Values from an unreachable server are left out quickly and without a message.
func TestCompletionWithoutServers(t *testing.T) {
	t.Parallel()
	for given, want := range map[string][]string{
		"tas":                            {"task", "tasks"},
		"task s":                         {"set", "show"},
		"help task m":                    {"merge"},
		"help __":                        nil,
		"completion ":                    {"bash", "zsh", "fish", "powershell"},
		"completion p":                   {"powershell"},
		"tasks --status ":                {"pending", "in_progress", "blocked", "done", "cancelled"},
		"builds list --status ":          {"running", "success", "partial", "empty", "failed", "interrupted"},
		"builds list --status=su":        {"success"},
		"builds list --class ":           {"passing", "setup", "input", "ours"},
		"builds retry --class passing,s": {"passing,setup"},
		"builds retry ":                  nil,
		"task set x --priority ":         {"low", "medium", "high", "critical"},
		"search x --stage w":             {"working"},
		"search x --type fact,re":        {"fact,reference"},
		"process x --format claude-c":    {"claude-code"},
		"facts --output ":                {"text", "json"},
		"facts add x --category c":       {"context", "correction"},
		"profile set ":                   {"work", "personal", "top_of_mind", "recent", "earlier", "background"},
		"facts show ":                    nil,
		"facts -o j":                     {"json"},
		"verify --embedder ":             {"hash", "local", "gemini", "openai"},
		"verify --log-level w":           {"warn"},
		"verify --proj":                  {"--project"},
		"rebuild ent":                    {"entries"},
		"search ":                        nil,
		"tasks --project ":               nil,
		"tasks ":                         nil,
		"task show ":                     nil,
		"entry show a":                   nil,
		"builds show ":                   nil,
		"schedule show ":                 nil,
		"verify --session s":             nil,
		"task set x --block ":            nil,
		"nothing ":                       nil,
	} {
		values, directive := commandtest.Completed(t, commandtest.Down().Complete(strings.Split(given, " ")...))
		var names []string
		for name := range values {
			names = append(names, name)
		}
		require.ElementsMatch(t, want, names, given)
		require.Contains(t, []string{":4", ":36"}, directive, "%s: no names of files", given)
	}
	for given, want := range map[string]string{"process ": ":0", "man ": ":16", "verify --config ": ":0"} {
		values, directive := commandtest.Completed(t, commandtest.Down().Complete(strings.Split(given, " ")...))
		require.Empty(t, values)
		require.Equal(t, want, directive, given)
	}
	broken := commandtest.Down()
	broken.Env["AXIOMMIND_EMBEDDER_DIMENSIONS"] = "few"
	values, _ := commandtest.Completed(t, broken.Complete("tasks", "--project", ""))
	require.Empty(t, values, "wrong settings are told when a command is run")
}

// Values that a shell would not take as one plain word are not offered.
func TestPlainWord(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"demo", "a/b.c:d_e-f", "프로젝트", "проект", "日本語", "हिन्दी", "0a1b-2c", "x@y+1", "/etc", "a,b"} {
		require.True(t, command.PlainWord(word), word)
	}
	for _, word := range []string{
		"", "a b", "a\tb", "a\nb", "a\x1b[31m", "it's", `a"b`, "$(touch x)", "`x`", "a;b", "a&b", "a|b", "a>b", "a\\b", "-x", "@x", "~x",
		"a*", "a?", "[a]", "{a,b}", "#a", "a=b", "a!b", "a\u202eb", "a\u00a0b", "a\xffb", "_activeHelp_ x", "(a)", "a%20 b",
	} {
		require.False(t, command.PlainWord(word), "%q", word)
	}
}

// Values from the servers are completed with their titles, for the given project.
func TestCompletionOfValues(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+
		commandtest.Said(2, "assistant", "TODO: write `x`; $(touch y)\tthe report.\nThe release is blocked by PROJ-7.\nThe migration is blocked by the legal review."))
	hostile := c.Project + " it's $(touch z)"
	for _, project := range []string{c.Project, c.Project + "-프로젝트", hostile} {
		require.Zero(t, c.Run("process", path, "--project", project, "--user", c.Project+"-ann", "--agent", "bot", "--session", "s-"+project).Code)
	}
	values := func(args ...string) map[string]string {
		found, directive := commandtest.Completed(t, c.Complete(args...))
		require.Equal(t, ":36", directive)
		return found
	}
	projects := values("tasks", "--project", c.Project)
	require.Len(t, projects, 2)
	require.Contains(t, projects, c.Project+"-프로젝트")
	require.Contains(t, projects[c.Project], "last processed ")
	require.Contains(t, values("facts", "--user", ""), c.Project+"-ann")
	require.Contains(t, values("verify", "--agent", "b"), "bot")
	require.Equal(t, 1, len(values("builds", "list", "--project", c.Project, "--session", "s-")))
	require.Len(t, values("builds", "list", "--project", "none", "--session", "s-"), 0)

	found := values("entry", "show", "--project", c.Project, "")
	require.NotEmpty(t, found)
	titles := strings.Builder{}
	for id, title := range found {
		require.Len(t, id, 36)
		require.NotContains(t, title, "\t")
		titles.WriteString(title + "\n")
	}
	require.Contains(t, titles.String(), "ClickHouse")
	require.Empty(t, values("entry", "show", "--project", "none", ""))

	report := c.TaskOf(t, "The release")
	id := report.Task.ID
	require.Equal(t, map[string]string{id: "The release"}, values("task", "show", "--project", c.Project, id[:6]))
	require.Contains(t, values("task", "merge", "--project", c.Project, id, ""), c.TaskOf(t, "The migration").Task.ID)
	require.NotContains(t, values("task", "merge", "--project", c.Project, id, ""), id, "what was given before")
	require.Contains(t, values("condition", "resolve", "--project", c.Project, ""), c.TaskOf(t, "The migration").Blockers[0].ID)
	artifact := report.Blockers[0].ID
	require.Contains(t, values("artifact", "close", "--project", c.Project, ""), artifact)
	require.Contains(t, values("condition", "resolve", "--project", c.Project, "x", ""), artifact)
	require.Contains(t, values("task", "set", "--project", c.Project, id, "--block", ""), artifact)

	builds := commandtest.Decode[[]struct {
		ID string `json:"build_id"`
	}](t, c.Run("builds", "list", "--project", c.Project, "-o", "json"))
	require.Contains(t, values("builds", "show", builds[0].ID[:5])[builds[0].ID], c.Project)
}
