// Package install adds hooks to the settings of agents and removes them, and leaves all other settings unchanged.
package install

import (
	"path/filepath"
	"slices"
	"strings"

	"axiommind/starter/hook"
)

// Hook is a command that an agent runs at an event.
type Hook struct {
	Event string
	// Command is a line for a POSIX shell. See [Command].
	Command string
}

// Timeout is how many seconds an agent waits for a hook, which needs about a tenth of a second.
const Timeout = 5

// Command joins words to a command line for a POSIX shell.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}

const plainRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,"

func quote(word string) string {
	if word != "" && strings.Trim(word, plainRunes) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// words splits a command line that [Command] has joined. The result for other lines is undefined.
func words(line string) []string {
	var out []string
	var word strings.Builder
	in, quoted := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\'':
			quoted = false
		case quoted:
			word.WriteByte(c)
		case c == '\'':
			in, quoted = true, true
		case c == '\\' && i+1 < len(line):
			i++
			in = true
			word.WriteByte(line[i])
		case c == ' ':
			if in {
				out = append(out, word.String())
			}
			word.Reset()
			in = false
		default:
			in = true
			word.WriteByte(c)
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}

// Names of the hook programs.
const (
	Enqueuer = "axhook"
	Answerer = "axcontext"
	Starter  = "starter"
)

// Ours reports whether this package, in this or an earlier version, wrote the command as a hook for the agent.
func Ours(agent, command string) bool {
	w := words(command)
	if len(w) < 2 {
		return false
	}
	program := strings.TrimSuffix(filepath.Base(filepath.ToSlash(w[0])), ".exe")
	switch {
	case program == Enqueuer, program == Answerer:
		return w[1] == agent
	case len(w) < 3 || w[1] != "hook" || w[2] != agent:
		return false
	default: // Starter may have another file name. Then the order of its flags identifies it.
		return program == Starter || len(w) > 6 && w[3] == "--project" && w[5] == "--user"
	}
}

// Hooks returns the hooks of an agent. Each command consists of the words enqueue or answer, the agent and the flags.
// Without answer no event is answered.
func Hooks(agent string, enqueue, answer, flags []string) []Hook {
	var out []Hook
	add := func(events, program []string) {
		for _, event := range events {
			out = append(out, Hook{event, Command(slices.Concat(program, []string{agent}, flags)...)})
		}
	}
	add(hook.Enqueued(), enqueue)
	if answer != nil {
		add(hook.Answered(), answer)
	}
	return out
}
