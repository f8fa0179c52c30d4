package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

const exitCodes = "Exit codes: 0 done, also when Ctrl-C or down ended it; 1 the work failed; 2 the command line is wrong, and\n" +
	"nothing was started."

// notes are the texts in the help of a command in addition to its flags.
var notes = map[string]string{
	"up": `The first run builds Temporal, Weaviate, the worker and the starter from source and fetches ClickHouse's engine; it
prints a plan with the time of each part, and how far each is. A server that is given by its address is used as it is, and
not started or stopped. A server or worker that ends is started again.`,
	"demo": `Where up runs already, the demo uses its servers. On a terminal it keeps the servers up until Ctrl-C.`,
	"completion": `SHELL is bash, zsh, fish or powershell. The shell completes the program under the name ` + programName + `, so
install it under that name, somewhere on the PATH:

    go build -o ~/bin/` + programName + ` ./deploy/local

    bash        source <(` + programName + ` completion bash)
    zsh         source <(` + programName + ` completion zsh)
    fish        ` + programName + ` completion fish | source
    powershell  ` + programName + ` completion powershell | Out-String | Invoke-Expression

Put the line into the shell's start-up file to have it in every session. Bash needs the package bash-completion.`,
	"man": `DIR is made where there is none. Where man looks for pages, each command has one:

    ` + programName + ` man ~/.local/share/man/man1
    man ` + programName + `-up`,
}

// shells are the shells that completion supports.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(*pflag.FlagSet) func(context.Context, []string, io.Writer) error {
	return func(_ context.Context, args []string, out io.Writer) error {
		root, to := tree(programName, out), exact(out)
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(to, true)
		case "zsh":
			return root.GenZshCompletion(to)
		case "fish":
			return root.GenFishCompletion(to, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(to)
		}
		return usagef("completion: no script for shell %q: want one of %s", args[0], strings.Join(shells, ", "))
	}
}

func manCommand(*pflag.FlagSet) func(context.Context, []string, io.Writer) error {
	return func(_ context.Context, args []string, out io.Writer) error {
		if err := os.MkdirAll(args[0], 0o755); err != nil {
			return fmt.Errorf("write man pages: %w", err)
		}
		root := tree(programName, out)
		root.Long = strings.ReplaceAll(exitCodes, "\n", " ")
		header := &doc.GenManHeader{Section: "1", Source: "AxiomMind", Manual: "AxiomMind"}
		if err := doc.GenManTree(root, header, args[0]); err != nil {
			return fmt.Errorf("write man pages: %w", err)
		}
		_, err := fmt.Fprintf(out, "wrote the man pages into %s\n", args[0])
		return err
	}
}
