package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/stack"
	"axiommind/worker/service"
)

// program runs the program as its user does.
func program(t *testing.T, args ...string) (out, errOut string, code int) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "local")
	require.NoError(t, os.Symlink(self, name))
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func TestHelp(t *testing.T) {
	t.Parallel()
	whole, none, code := program(t, "-h")
	require.Equal(t, exitOK, code)
	require.Empty(t, none)
	require.True(t, strings.HasPrefix(whole, "Run AxiomMind's servers on this machine.\n\nUsage: go run ./deploy/local COMMAND [flags]\n"), whole)
	require.Contains(t, whole, "Exit codes: 0 done")
	for _, args := range [][]string{{"--help"}, {"help"}} {
		again, _, code := program(t, args...)
		require.Equal(t, exitOK, code)
		require.Equal(t, whole, again)
	}
	out, said, code := program(t)
	require.Equal(t, exitUsage, code)
	require.Empty(t, out)
	require.Equal(t, "local: want a command\n\n"+whole, said)
	for _, s := range sections() {
		require.Contains(t, whole, "\n"+s.title+":\n")
		for _, c := range s.commands {
			require.Contains(t, whole, c.summary)
			help, said, code := program(t, c.name, "-h")
			require.Equal(t, exitOK, code)
			require.Empty(t, said)
			require.Contains(t, help, "\n\nUsage: go run ./deploy/local "+strings.TrimSpace(c.name+" "+c.arguments)+" [flags]\n")
			again, _, code := program(t, "help", c.name)
			require.Equal(t, exitOK, code)
			require.Equal(t, help, again)
		}
	}
	for name := range notes {
		_, _, code := program(t, "help", name)
		require.Equal(t, exitOK, code, "%q has a note and is no command", name)
	}
}

// An error in a command line is reported in one line, with the likely alternatives and where to read on.
// Nothing is started.
func TestUsage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"absent":                  `there is no command "absent"; see go run ./deploy/local -h`,
		"satus":                   `there is no command "satus" (did you mean status?); see go run ./deploy/local -h`,
		"dwon --dir x":            `there is no command "dwon" (did you mean down?); see go run ./deploy/local -h`,
		"help satus":              `there is no command "satus" (did you mean status?); see go run ./deploy/local -h`,
		"help up x":               `help: unexpected argument "x"; see go run ./deploy/local help -h`,
		"--absent":                `unknown flag: --absent; see go run ./deploy/local -h`,
		"up --absent":             `up: unknown flag: --absent; see go run ./deploy/local up -h`,
		"status --ouput json":     `status: unknown flag: --ouput (did you mean --output?); see go run ./deploy/local status -h`,
		"up --temporal-adress x":  `up: unknown flag: --temporal-adress (did you mean --temporal-address?); see go run ./deploy/local up -h`,
		"up -x":                   `up: unknown shorthand flag: 'x' in -x; see go run ./deploy/local up -h`,
		"down --dir":              `down: flag needs an argument: --dir; see go run ./deploy/local down -h`,
		"up --no-path=perhaps":    `up: --no-path "perhaps": want true or false; see go run ./deploy/local up -h`,
		"status extra":            `status: unexpected argument "extra"; see go run ./deploy/local status -h`,
		"status --output xml":     `status: --output "xml": want one of text, json`,
		"status --dir=":           `status: --dir is empty: give a directory, or leave it out for ` + stack.DefaultDir(),
		"completion":              `completion: want SHELL; see go run ./deploy/local completion -h`,
		"completion tcsh":         `completion: no script for shell "tcsh": want one of bash, zsh, fish, powershell`,
		"man":                     `man: want DIR; see go run ./deploy/local man -h`,
		"--version --temporal-ui": `unknown flag: --temporal-ui; see go run ./deploy/local -h`,
		"상태":                      `there is no command "상태"; see go run ./deploy/local -h`,
		"down 'x'":                `down: unexpected argument "'x'"; see go run ./deploy/local down -h`,
	} {
		out, said, code := program(t, strings.Fields(line)...)
		require.Equal(t, exitUsage, code, line)
		require.Empty(t, out, line)
		require.Equal(t, "local: "+want+"\n", said, line)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	out, said, code := program(t, "--version")
	require.Equal(t, []any{"axiommind-local " + service.Version() + "\n", "", exitOK}, []any{out, said, code})
}

// The output for each shell is a script of that shell for the program's installed name, as cobra wrote it.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for shell, has := range map[string]string{
		"bash": "complete -o default -F __start_axiommind-local axiommind-local", "zsh": "#compdef axiommind-local",
		"fish": "complete -c axiommind-local", "powershell": "Register-ArgumentCompleter -CommandName 'axiommind-local'",
	} {
		out, said, code := program(t, "completion", shell)
		require.Equal(t, exitOK, code, said)
		require.Contains(t, out, has)
		require.NotContains(t, out, "<U+")
	}
	out, _, _ := program(t, "completion", "bash")
	cmd := exec.CommandContext(t.Context(), "bash", "-n")
	cmd.Stdin = strings.NewReader(out)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
}

// Commands, flags and their values are completed.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                     {"up", "demo", "status", "down", "completion", "man", "help"},
		"do":                   {"down"},
		"status --o":           {"--output"},
		"status --output ":     {"text", "json", ":4"},
		"status --dir ":        {":16"},
		"up ":                  {":4"},
		"up --weaviate-ho":     {"--weaviate-host"},
		"completion ":          {"bash", "zsh", "fish", "powershell", ":4"},
		"man ":                 {":16"},
		"help ":                {"up", "demo", "status", "down"},
		"help up ":             {":4"},
		"up --clickhouse-dsn ": {":4"},
	} {
		words := strings.Split(line, " ")
		out, _, code := program(t, append([]string{"__complete"}, words...)...)
		require.Equal(t, exitOK, code, line)
		var got []string
		for l := range strings.Lines(out) {
			word, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
			got = append(got, word)
		}
		require.Subset(t, got, want, "%q: %s", line, out)
		if strings.HasPrefix(want[0], ":") {
			require.Len(t, got, 1, "%q offers nothing of its own: %s", line, out)
		}
	}
}

// There is a page for the program and for each command, which names its flags.
func TestManPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "페이지 'man'", "man1")
	out, said, code := program(t, "man", dir)
	require.Equal(t, exitOK, code, said)
	pages, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "*.1"))
	require.NoError(t, err)
	require.Contains(t, out, dir)
	names := []string{"axiommind-local.1"}
	for _, s := range sections() {
		for _, c := range s.commands {
			names = append(names, "axiommind-local-"+c.name+".1")
		}
	}
	require.Len(t, pages, len(names))
	for _, name := range names {
		page, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Contains(t, string(page), `.TH "AXIOMMIND-LOCAL`)
		require.NotContains(t, string(page), "go run")
	}
	page, err := os.ReadFile(filepath.Join(dir, "axiommind-local-up.1"))
	require.NoError(t, err)
	require.Contains(t, string(page), `weaviate-host`)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, said, code = program(t, "man", filepath.Join(file, "x"))
	require.Equal(t, exitFailed, code)
	require.Contains(t, said, "local: write man pages: ")
}
