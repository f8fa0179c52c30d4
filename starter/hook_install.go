package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/build"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/hook"
	"axiommind/starter/hook/install"
	"axiommind/worker/settings"
)

// hookSettings are the flags of hook install and hook remove.
type hookSettings struct {
	settings string
	yes      bool
	program  string
	noAnswer bool
	hook     hook.Options
}

func (o *hookSettings) add(a *app, f *pflag.FlagSet) {
	f.StringVar(&o.settings, "settings", "", "file of the agent's settings\n(default: ~/.claude/settings.json or ~/.codex/hooks.json)")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	a.outputFlag(f)
}

func (a *app) hookInstallCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "install AGENT", Short: "write the hooks into an agent's settings, after showing the change",
		Example: "starter hook install claude-code\n" +
			"starter hook install codex --project shop --user ann --yes",
	}
	f := cmd.Flags()
	o := &hookSettings{}
	f.StringVar(&o.hook.Project, "project", "default", "project the memories belong to")
	f.StringVar(&o.hook.User, "user", "default", "user the memories belong to")
	f.StringVar(&o.hook.Agent, "agent", "", "agent the memories belong to")
	f.BoolVar(&o.noAnswer, "no-answers", false, "only enqueue transcripts; give the agent no memories")
	f.IntVar(&o.hook.MaxTokens, "max-tokens", schema.DefaultMaxTokens, "most tokens of an answer, estimated")
	f.StringVar(&o.program, "programs", "", "directory of axhook and axcontext (default: that of starter, else the PATH)")
	o.add(a, f)
	cmd.ValidArgsFunction = a.arguments(fixed(hook.Agents()...))
	return a.offline(cmd, func(_ context.Context, args []string) error {
		agent := args[0]
		if err := checkAgent(agent); err != nil {
			return err
		}
		if _, err := (settings.File{}).Fill(f, a.getenv); err != nil { // The project may be in a variable.
			return badUsage(err)
		}
		if err := o.hook.Check(); err != nil {
			return badUsage(err)
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
		notes, err := a.hookNotes(o, agent)
		if err != nil {
			return err
		}
		return a.changeHooks(o, agent, notes, func(text []byte) ([]byte, error) { return install.Add(agent, text, hooks) })
	})
}

func (a *app) hookRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove AGENT", Short: "take the hooks out of an agent's settings again",
		Example: "starter hook remove claude-code",
	}
	f := cmd.Flags()
	o := &hookSettings{}
	o.add(a, f)
	cmd.ValidArgsFunction = a.arguments(fixed(hook.Agents()...))
	return a.offline(cmd, func(_ context.Context, args []string) error {
		agent := args[0]
		if err := checkAgent(agent); err != nil {
			return err
		}
		return a.changeHooks(o, agent, "", func(text []byte) ([]byte, error) { return install.Remove(agent, text) })
	})
}

func checkAgent(agent string) error {
	if !slices.Contains(hook.Agents(), agent) {
		return usagef("AGENT %q: want one of %s", agent, strings.Join(hook.Agents(), ", "))
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
func (a *app) changeHooks(o *hookSettings, agent, notes string, change func([]byte) ([]byte, error)) error {
	path := o.settings
	if path == "" {
		var err error
		if path, err = install.SettingsFile(agent, a.getenv); err != nil {
			return badUsage(err)
		}
	}
	file, err := install.Open(path)
	if err != nil {
		return badUsage(err)
	}
	text, err := change(file.Text)
	if err != nil {
		return badUsage(fmt.Errorf("%q: %w", file.Path, err))
	}
	done := changedHooks{Settings: file.Path, Changed: !bytes.Equal(text, file.Text)}
	if !done.Changed {
		return a.print(done, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s is up to date: nothing was changed\n", file.Path)
			return err
		})
	}
	done.Diff = tier.Diff(string(file.Text), string(text), file.Path, file.Path)
	if !o.yes {
		if _, err := io.WriteString(a.errOut, done.Diff); err != nil {
			return fmt.Errorf("show the change: %w", err)
		}
		if !a.interactive && !isTerminal(a.in) {
			return usagef("nothing was changed: standard input is not a terminal; give --yes to write the change")
		}
		if err := ask(a.in, a.errOut, "write this to "+strconv.Quote(file.Path)+"? [y/N] ", "y"); err != nil {
			return err
		}
	}
	if err := file.Write(text); err != nil {
		return err
	}
	return a.print(done, func(w io.Writer) error {
		if o.yes {
			if _, err := io.WriteString(w, done.Diff); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintln(w, "written to "+file.Path+hookAdvice(agent)+notes)
		return err
	})
}

// hookAdvice describes the remaining manual steps.
func hookAdvice(agent string) string {
	if agent == hook.Codex {
		return "\nCodex runs new hooks once you trust them: type /hooks in it"
	}
	return "\nsessions that run already may have to be started again"
}

// hookNotes returns lines that say which sessions the installed hooks remember, and how to import the earlier ones.
func (a *app) hookNotes(o *hookSettings, agent string) (string, error) {
	dir, err := install.SessionsDir(agent, a.getenv)
	if err != nil {
		return "", err
	}
	process := []string{"process", dir, "--project", o.hook.Project}
	if o.hook.User != "default" {
		process = append(process, "--user", o.hook.User)
	}
	if o.hook.Agent != "" {
		process = append(process, "--agent", o.hook.Agent)
	}
	notes := ""
	if o.settings == "" {
		notes = "\nfrom now on, the sessions in every repository become memory of project " + unbroken(o.hook.Project)
	}
	return notes + "\nimport earlier sessions: " + build.Command(process...), nil
}

// programs returns the commands of the hooks: the programs that start fast, or this program if they are not installed.
func (o *hookSettings) programs() (enqueue, answer []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	fallback := []string{self, "hook"}
	beside := filepath.Dir(self)
	if o.program != "" {
		if beside, err = filepath.Abs(o.program); err != nil {
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
		case o.program != "":
			return nil, usagef("--programs %q: there is no %s; build it with: go build -o %s ./starter/%s", o.program, name,
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
