package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"axiommind/deploy/local/stack"
)

//go:embed samples
var samples embed.FS

// act is one step of the demo: its title, and the arguments of the starter.
type act struct {
	title string
	args  []string
}

// acts returns the steps of the demo. Steps that need an embedder which knows meaning are among them if it is
// there.
func acts(samplesDir string, meaning bool) []act {
	list := []act{
		{"Three sessions, in English, Korean and Chinese, become memory", []string{"process", samplesDir, "--project", "demo"}},
		{"Again: nothing changes", []string{"process", samplesDir, "--project", "demo"}},
		{"A question, answered with the spans that prove it", []string{"search", "which idempotency key does a charge carry?", "--project", "demo", "--limit", "2"}},
		{"In Korean", []string{"search", "검색 방식 결정", "--project", "demo", "--limit", "1"}},
		{"And in Chinese", []string{"search", "什么时候发布", "--project", "demo", "--limit", "2"}},
	}
	if meaning {
		list = append(list,
			act{"A question that shares no word with its answer", []string{"search", "who gets their money back?", "--project", "demo", "--limit", "1"}},
			act{"A question in English, an answer in Korean", []string{"search", "what kind of search did we choose?", "--project", "demo", "--limit", "1"}},
		)
	}
	return append(list, []act{
		{"Every stored span, checked against its source again", []string{"verify", "--project", "demo"}},
		{"Blocked tasks and their blockers", []string{"blocked", "--project", "demo"}},
		{"Tasks reported done, for you to confirm", []string{"tasks", "--reported-done", "--project", "demo"}},
		{"The night: proven memories and learned facts become core memory, and nothing else does", []string{"dream"}},
		{"The builds so far", []string{"builds", "list", "--project", "demo"}},
	}...)
}

// afterwards are commands to try next, about the project that the demo has filled.
func afterwards() []act {
	return []act{
		{"ask something else", []string{"search", "why was a customer charged twice?", "--project", "demo"}},
		{"list the tasks", []string{"tasks", "--project", "demo"}},
		{"list the facts about you", []string{"facts"}},
		{"the same as text for a prompt", []string{"context"}},
		{"core memory, and where each statement comes from", []string{"memory", "show", "--sources"}},
		{"dream every night", []string{"schedule", "apply"}},
		{"remove what the demo remembered (forget lift admits it again)", []string{"forget", "--project", "demo", "--yes"}},
	}
}

func demoCommand(f *pflag.FlagSet) func(context.Context, []string, io.Writer) error {
	var s settings
	s.flags(f)
	s.noSpool = true
	return func(ctx context.Context, _ []string, out io.Writer) error { return demo(ctx, s, out) }
}

func demo(ctx context.Context, s settings, out io.Writer) error {
	started := time.Now()
	err := withStack(ctx, s, out, func(ctx context.Context, st *stack.Stack) error {
		stays := term.IsTerminal(int(os.Stdout.Fd()))
		goOn := "The servers stop now, and the data is kept. Start them again with: go run ./deploy/local up\nThen go on with:"
		if stays {
			goOn = "The servers stay up until Ctrl-C. In another terminal, go on with:"
		}
		if err := perform(ctx, s.dir, st.Addresses(), out, started, goOn); err != nil {
			return err
		}
		if stays {
			<-ctx.Done()
		}
		return nil
	})
	if errors.Is(err, errRunning) {
		last, stateErr := readState(s.dir)
		if stateErr != nil || last == nil {
			return err
		}
		return perform(ctx, s.dir, last.Addresses, out, started, "Go on with:")
	}
	return err
}

// perform runs the acts with the real command line, and lists the commands to try next below the text goOn.
func perform(ctx context.Context, dir string, a stack.Addresses, out io.Writer, started time.Time, goOn string) error {
	samplesDir := filepath.Join(dir, "samples")
	if err := copySamples(samplesDir); err != nil {
		return err
	}
	starter := filepath.Join(binDir(dir), "starter")
	meaning := a.EmbedderDir != "" || !slices.Contains([]string{"", embedderHash}, os.Getenv(embedderVariable))
	if !meaning {
		_, _ = fmt.Fprintln(out, "\nThe embedder is hash: it knows words and no meaning. Questions that share no word with their answer are left out.")
	}
	for _, act := range acts(samplesDir, meaning) {
		_, _ = fmt.Fprintf(out, "\n── %s\n$ go run ./starter %s\n", act.title, shellLine(act.args))
		cmd := exec.CommandContext(ctx, starter, act.args...)
		cmd.Env = append(os.Environ(), environment(a)...)
		cmd.Stdout, cmd.Stderr = exact(out), os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("starter %s: %w", act.args[0], err)
		}
	}
	_, _ = fmt.Fprintf(out, "\nDone in %.0f s. Every step of every session: %s\n\n%s\n", time.Since(started).Seconds(), uiLink(dir, a), goOn)
	for _, next := range afterwards() {
		_, _ = fmt.Fprintf(out, "  go run ./starter %-65s # %s\n", shellLine(next.args), next.title)
	}
	return nil
}

func shellLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if strings.ContainsAny(a, " ?*'\"") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted[i] = a
	}
	return strings.Join(quoted, " ")
}

func copySamples(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("copy samples: %w", err)
	}
	return fs.WalkDir(samples, "samples", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := samples.ReadFile(path)
		if err != nil {
			return fmt.Errorf("copy samples: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, d.Name()), text, 0o600); err != nil {
			return fmt.Errorf("copy samples: %w", err)
		}
		return nil
	})
}
