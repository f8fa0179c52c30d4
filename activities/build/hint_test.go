package build_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/schema"
)

// errorTypes are the values of all constants of the schema whose names begin with Error.
func errorTypes(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../schema/*.go")
	require.NoError(t, err)
	out := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Error") {
				return true
			}
			if value, ok := spec.Values[0].(*ast.BasicLit); ok {
				text, err := strconv.Unquote(value.Value)
				require.NoError(t, err)
				out[spec.Names[0].Name] = text
			}
			return true
		})
	}
	return out
}

// Every type of failure has a hint of its own.
func TestEveryErrorHasAHint(t *testing.T) {
	t.Parallel()
	types := errorTypes(t)
	require.GreaterOrEqual(t, len(types), 28)
	require.Equal(t, schema.ErrorInterrupted, types["ErrorInterrupted"])
	seen := map[string]string{}
	for name, text := range types {
		hint := build.Hint(text)
		require.NotEmpty(t, hint, name)
		require.Empty(t, seen[hint], "%s has the hint of %s", name, seen[hint])
		seen[hint] = name
		require.NotContains(t, hint, "\n")
	}
	require.Equal(t, build.Hint(schema.ErrorInternal), build.Hint("what nobody knows"))
}
