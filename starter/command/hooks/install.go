package hooks

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/activities/tier"
	"axiommind/starter/command"
	"axiommind/starter/hook"
	"axiommind/starter/hook/install"
)

// hookSettings are the flags of hook install and hook remove.
type hookSettings struct {
	settings string
	yes      bool
	// programsDir is the directory of axhook and axcontext, or "".
	programsDir string
	noAnswer    bool
	hook        hook.Options
}

func (o *hookSettings) add(a *command.App, f *pflag.FlagSet) {
	f.StringVar(&o.settings, "settings", "", "file of the agent's settings\n(default: ~/.claude/settings.json or ~/.codex/hooks.json)")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	a.OutputFlag(f)
}

func checkAgent(agent string) error {
	if !slices.Contains(hook.Agents(), agent) {
		return command.Usagef("AGENT %q: want one of %s", agent, strings.Join(hook.Agents(), ", "))
	}
	return nil
}

// changedHooks is the JSON output of hook install and hook remove.
type changedHooks struct {
	Settings string `json:"settings"`
	Changed  bool   `json:"changed"`
	Diff     string `json:"diff,omitempty"`
}

// changeHooks shows the difference in the settings, asks, writes them, and prints the notes.
func changeHooks(a *command.App, o *hookSettings, agent, notes string, change func([]byte) ([]byte, error)) error {
	path := o.settings
	if path == "" {
		var err error
		if path, err = install.SettingsFile(agent, a.Getenv); err != nil {
			return command.BadUsage(err)
		}
	}
	file, err := install.Open(path)
	if err != nil {
		return command.BadUsage(err)
	}
	text, err := change(file.Text)
	if err != nil {
		return command.BadUsage(fmt.Errorf("%q: %w", file.Path, err))
	}
	done := changedHooks{Settings: file.Path, Changed: !bytes.Equal(text, file.Text)}
	if !done.Changed {
		return a.Print(done, func(b *strings.Builder) {
			fmt.Fprintf(b, "%s is up to date: nothing was changed\n", file.Path)
		})
	}
	done.Diff = tier.Diff(string(file.Text), string(text), file.Path, file.Path)
	if !o.yes {
		if _, err := io.WriteString(a.ErrOut, done.Diff); err != nil {
			return fmt.Errorf("show the change: %w", err)
		}
		if !a.Interactive && !command.IsTerminal(a.In) {
			return command.Usagef("nothing was changed: standard input is not a terminal; give --yes to write the change")
		}
		if err := command.Ask(a.In, a.ErrOut, "write this to "+strconv.Quote(file.Path)+"? [y/N] ", "y"); err != nil {
			return err
		}
	}
	if err := file.Write(text); err != nil {
		return err
	}
	return a.Print(done, func(b *strings.Builder) {
		if o.yes {
			b.WriteString(done.Diff)
		}
		fmt.Fprintln(b, "written to "+file.Path+hookAdvice(agent)+notes)
	})
}

// hookAdvice describes the remaining manual steps.
func hookAdvice(agent string) string {
	if agent == hook.Codex {
		return "\nCodex runs new hooks once you trust them: type /hooks in it"
	}
	return "\nsessions that run already may have to be started again"
}

// programs returns the commands of the hooks: the programs that start fast, or this program if they are not installed.
func (o *hookSettings) programs() (enqueue, answer []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	fallback := []string{self, "hook"}
	beside := filepath.Dir(self)
	if o.programsDir != "" {
		if beside, err = filepath.Abs(o.programsDir); err != nil {
			return nil, nil, fmt.Errorf("find the programs of hooks: %w", err)
		}
	}
	find := func(name string) ([]string, error) {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		path := filepath.Join(beside, name)
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular():
			return []string{path}, nil
		case o.programsDir != "":
			return nil, command.Usagef("--programs %q: there is no %s; build it with: go build -o %s ./starter/%s", o.programsDir, name,
				strconv.Quote(beside), strings.TrimSuffix(name, ".exe"))
		}
		if path, err := exec.LookPath(name); err == nil {
			if path, err = filepath.Abs(path); err == nil {
				return []string{path}, nil
			}
		}
		return fallback, nil
	}
	if enqueue, err = find(install.Enqueuer); err == nil && !o.noAnswer {
		answer, err = find(install.Answerer)
	}
	return enqueue, answer, err
}
