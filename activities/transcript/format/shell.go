package format

import (
	"slices"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
	"mvdan.cc/sh/v3/syntax"
)

// maxScript bounds the commands that are read, in bytes: the parser calls itself for nested commands.
const maxScript = 32 << 10

// shell reads a command: the messages of commits, and the titles and texts of pull requests and issues. The paths lead
// to the command, which is a text or a list of words.
func shell(paths ...string) tool {
	return tool{read: func(b *builder, c call) {
		command := firstOf(c.args, paths...)
		if command.IsArray() {
			words := command.Array()
			if len(words) > 2 && strings.HasSuffix(words[0].Str, "sh") && strings.HasPrefix(words[1].Str, "-") {
				command = words[2]
			} else {
				command = gjson.Result{Type: gjson.String, Str: asScript(words)}
			}
		}
		b.commands(c, command.String())
		if at := strings.Index(command.String(), "*** Begin Patch"); at >= 0 {
			b.patched(c, command.String()[at:])
		}
	}}
}

func asScript(words []gjson.Result) string {
	var out []string
	for _, w := range words {
		if q, err := syntax.Quote(w.String(), syntax.LangBash); err == nil {
			out = append(out, q)
		}
	}
	return strings.Join(out, " ")
}

// commands adds the texts that the simple commands of a script commit and publish.
func (b *builder) commands(c call, script string) {
	if len(script) > maxScript || !strings.Contains(script, "git") && !strings.Contains(script, "gh ") {
		return
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		s, ok := node.(*syntax.Stmt)
		if !ok {
			return true
		}
		run, ok := s.Cmd.(*syntax.CallExpr)
		if !ok || len(run.Args) < 2 || run.Args[0].Lit() != "git" && run.Args[0].Lit() != "gh" {
			return true
		}
		words := make([]string, len(run.Args))
		for i, w := range run.Args {
			words[i] = textOf(w)
		}
		b.says(c, schema.RoleAssistant, schema.KindCommit, published(words, heredoc(s.Redirs)))
		return false // Its text is added once.
	})
}

// published returns the text that a command commits or publishes, else "". The first line is its title.
func published(words []string, input string) string {
	if slices.Contains(words, "--dry-run") {
		return ""
	}
	var title, text []string
	flags := map[string]*[]string{}
	file := ""
	rest := words[1:]
	switch words[0] {
	case "git":
		for len(rest) > 1 && strings.HasPrefix(rest[0], "-") { // Flags of git itself, of which some have a value.
			if (rest[0] == "-C" || rest[0] == "-c") && len(rest) > 2 {
				rest = rest[1:]
			}
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0] != "commit" {
			return ""
		}
		flags["-m"], flags["--message"] = &text, &text
		file = "-F"
	case "gh":
		if len(rest) < 2 || rest[0] != "pr" && rest[0] != "issue" || rest[1] != "create" {
			return ""
		}
		flags["-t"], flags["--title"], flags["-b"], flags["--body"] = &title, &title, &text, &text
		file = "--body-file"
	default:
		return ""
	}
	for i := 0; i < len(rest); i++ {
		name, value, joined := strings.Cut(rest[i], "=")
		if at := strings.IndexByte(rest[i], 'm'); words[0] == "git" && at > 0 && rest[i][0] == '-' && rest[i][1] != '-' {
			name, value, joined = "-m", rest[i][at+1:], at+1 < len(rest[i]) // It may be joined with others, as in "-am", and with its text.
		}
		switch to := flags[name]; {
		case to != nil && joined:
			*to = append(*to, value)
		case to != nil && i+1 < len(rest):
			i++
			*to = append(*to, rest[i])
		case (name == file || name == "--file") && input != "":
			text = append(text, input)
		}
	}
	return strings.Join(append(title, text...), "\n\n")
}

// textOf returns the text of a word as far as the script holds it: without the values of variables and commands, except for
// a document that cat repeats.
func textOf(w *syntax.Word) string {
	var out strings.Builder
	var add func(parts []syntax.WordPart, quoted bool)
	add = func(parts []syntax.WordPart, quoted bool) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				out.WriteString(unescape(p.Value, quoted))
			case *syntax.SglQuoted:
				out.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts, true)
			case *syntax.CmdSubst:
				if len(p.Stmts) == 1 {
					out.WriteString(heredoc(p.Stmts[0].Redirs))
				}
			}
		}
	}
	add(w.Parts, false)
	return strings.TrimSpace(out.String())
}

// unescape takes out the backslashes that the shell takes out.
func unescape(s string, quoted bool) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("\\\"$`\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// heredoc returns the document that a command reads.
func heredoc(redirects []*syntax.Redirect) string {
	for _, r := range redirects {
		if r.Hdoc == nil {
			continue
		}
		verbatim := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`) // Its end is quoted.
		var out strings.Builder
		for _, p := range r.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok && verbatim {
				out.WriteString(l.Value)
			} else if ok {
				out.WriteString(unescape(l.Value, true))
			}
		}
		return strings.TrimSpace(out.String())
	}
	return ""
}
