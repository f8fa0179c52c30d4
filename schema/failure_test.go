package schema_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// failureTypes are the values of the Error constants in the files, by name.
func failureTypes(t *testing.T, files ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, "Error") {
				return true
			}
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			out[spec.Names[0].Name] = value
			return true
		})
	}
	return out
}

// Each type of failure must have a class that was chosen on purpose, not the default. A new constant belongs here.
func TestEveryFailureHasAClass(t *testing.T) {
	t.Parallel()
	want := map[schema.FailureClass]string{
		schema.FailurePassing: `ConcurrentWriter Draining FilesUnavailable ModelMalformed ModelRateLimited ModelUnavailable
			NotifyUnavailable StoreUnavailable TemporalUnavailable VectorUnavailable WorkerStopped Timeout Cancelled Interrupted`,
		schema.FailureSetup: `FilesRefused ModelRefused NotifyRefused SourceForbidden StoreRejected TemporalRefused VectorRejected`,
		schema.FailureInput: `EntryNotFound FactNotFound FactRefused FactStale GraduationRefused InvalidInput ModelBlocked ModelCut ModelRejected ModelTooLong ModelUnreadable
			ScopeMismatch SourceKills SourceUnreadable TaskNotFound TaskRefused UnknownFormat VersionNotFound`,
		schema.FailureBug: `CorruptLog Internal`,
	}
	types := failureTypes(t, "names.go", "failure.go")
	require.NotEmpty(t, types)
	for name, failureType := range types {
		var classes []schema.FailureClass
		for _, class := range schema.FailureClasses() {
			for _, one := range strings.Fields(want[class]) {
				if one == failureType {
					classes = append(classes, class)
				}
			}
		}
		require.Len(t, classes, 1, "schema.%s needs exactly one class: say here and in failure.go which", name)
		require.Equal(t, classes[0], schema.ClassOf(failureType), name)
	}
	n := 0
	for _, class := range schema.FailureClasses() {
		n += len(strings.Fields(want[class]))
	}
	require.Len(t, types, n, "this table has types that there are none of")
	require.Equal(t, schema.FailureBug, schema.ClassOf("nobody knows"))
}

// A window contains its parts and itself, and no other.
func TestWindowContains(t *testing.T) {
	t.Parallel()
	whole := schema.Window{First: 1, ByteStart: 5, Last: 3, ByteEnd: 9}
	for _, part := range []schema.Window{
		whole, {First: 1, ByteStart: 5, Last: 1}, {First: 2, Last: 2}, {First: 3, Last: 3, ByteEnd: 9}, {First: 1, ByteStart: 6, Last: 1, ByteEnd: 7},
	} {
		require.True(t, whole.Contains(part), "%+v", part)
		require.Equal(t, part == whole, part.Contains(whole), "%+v", part)
	}
	for _, other := range []schema.Window{
		{First: 1, Last: 1}, {First: 1, ByteStart: 4, Last: 2}, {First: 3, Last: 3}, {First: 3, Last: 3, ByteEnd: 10}, {First: 4, Last: 4}, {},
	} {
		require.False(t, whole.Contains(other), "%+v", other)
	}
}
