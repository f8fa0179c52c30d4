package format

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each format has a name and a file of its own, and describes itself for a reader of the topic.
func TestFormatsAreDescribed(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, f := range All() {
		require.Regexp(t, `^[a-z][a-z0-9]*(-[a-z0-9]+)*$`, f.Name)
		require.False(t, seen[f.Name], "two formats are called %q", f.Name)
		seen[f.Name] = true
		require.NotEmpty(t, f.Title, "format %q: set Title, the name of the harness", f.Name)
		require.NotEmpty(t, f.Files, "format %q: set Files, which of its files are read", f.Name)
		require.NotEmpty(t, f.Reference, "format %q: set Reference, where the format is documented", f.Name)
		require.NotNil(t, f.Dirs, "format %q: set Dirs, where the harness keeps its sessions, or nowhere", f.Name)
		for _, pattern := range f.Dirs {
			require.True(t, fs.ValidPath(pattern), "format %q: %q is no path under a home", f.Name, pattern)
			_, err := path.Match(pattern, "")
			require.NoError(t, err, "format %q: %q", f.Name, pattern)
		}
		require.FileExists(t, fileOf(f.Name), "format %q is declared in a file of its own", f.Name)
	}
}

func fileOf(format string) string { return strings.ReplaceAll(format, "-", "_") + ".go" }

// Every format that a file declares is registered: one that is not in the registry is never detected.
func TestFormatsAreRegistered(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	names := make([]string, 0, len(registry))
	for _, f := range registry {
		names = append(names, f.Name)
	}
	declared := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for variable, name := range declaredFormats(tree) {
			declared++
			require.Contains(t, names, name, "%s declares format %q: add %s to registry in formats.go", file, name, variable)
			require.Equal(t, fileOf(name), file, "a format is declared in the file of its name")
		}
	}
	require.Equal(t, len(registry), declared)
}

// declaredFormats returns the names of the formats that a file declares, by their variables.
func declaredFormats(file *ast.File) map[string]string {
	out := make(map[string]string)
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || len(value.Values) != 1 {
				continue
			}
			literal, ok := value.Values[0].(*ast.CompositeLit)
			if !ok || fmt.Sprint(literal.Type) != "Format" {
				continue
			}
			for _, element := range literal.Elts {
				field, ok := element.(*ast.KeyValueExpr)
				if ok && fmt.Sprint(field.Key) == "Name" {
					out[value.Names[0].Name] = strings.Trim(field.Value.(*ast.BasicLit).Value, `"`)
				}
			}
		}
	}
	return out
}

// The topic about agents lists the formats.
func TestTopicListsFormats(t *testing.T) {
	t.Parallel()
	const topic, start, end = "../../../starter/help/agents.md", "<!-- formats -->\n", "<!-- end of formats -->\n"
	text, err := os.ReadFile(topic)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), start)
	require.True(t, ok, "the topic has no %q", start)
	got, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the topic has no %q", end)
	if *update {
		got = formatTable()
		require.NoError(t, os.WriteFile(topic, []byte(before+start+got+end+after), 0o644))
	}
	for line := range strings.Lines(formatTable()) {
		require.True(t, strings.Contains(got, line), "the topic lacks %q: run go test ./activities/transcript/format -update", line)
	}
	require.Equal(t, formatTable(), got, "run go test ./activities/transcript/format -update")
}

func formatTable() string {
	var b strings.Builder
	b.WriteString("| `--format` | what is read | documented by |\n| --- | --- | --- |\n")
	for _, f := range All() {
		fmt.Fprintf(&b, "| `%s` | %s %s | %s |\n", f.Name, f.Title, f.Files, f.Reference)
	}
	return b.String()
}
