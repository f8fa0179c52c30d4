package workflows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nexus-rpc/sdk-go/nexus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
	"axiommind/workflows"
)

// A step is named in schema and is in the graph, in the table of this package's tests and in the help topic about
// builds. A test of worker/service checks that the worker knows its activities.
func TestEveryStepIsWhole(t *testing.T) {
	t.Parallel()
	drawn := workflows.SessionSteps(t)
	named := constants(t, "Step")
	require.ElementsMatch(t, named, append(slices.Clone(drawn), schema.StepRealign),
		"the constants schema.Step… and the nodes in process_session_graph.go differ")
	var tested []string
	for _, s := range sessionSteps {
		tested = append(tested, s.name)
	}
	require.ElementsMatch(t, drawn, append(tested, schema.StepFailBuild), "the graph and sessionSteps in process_session_test.go differ")
	text, err := os.ReadFile("../starter/help/builds.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "| step | what it does |")
	require.True(t, ok, "the topic has no table of steps")
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z_, ]+) \|`).FindAllStringSubmatch(table, -1) {
		told = append(told, strings.Split(row[1], ", ")...)
	}
	require.ElementsMatch(t, drawn, told, "the graph and the table of steps in the help topic differ")
}

// A workflow is named in schema, is registered, and has a recorded history. A writer of a stream is also in the tests
// of every writer.
func TestEveryWorkflowIsWhole(t *testing.T) {
	t.Parallel()
	known, writers := registry{}, registry{}
	workflows.Register(known)
	workflows.RegisterWriters(writers)
	registered := slices.Collect(maps.Keys(known))
	require.ElementsMatch(t, constants(t, "Workflow"), registered, "the constants schema.Workflow… and workflows.Register differ")
	var tested []string
	for _, w := range serialWriters {
		tested = append(tested, w.workflow)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(writers)), tested, "the writers in workflows.Register and serialWriters in writer_test.go differ")
	recorded := map[string]bool{}
	for _, p := range paths() {
		started := readHistory(t, p.name).Events[0].GetWorkflowExecutionStartedEventAttributes()
		recorded[started.GetWorkflowType().GetName()] = true
	}
	for _, name := range registered {
		require.True(t, recorded[name], "no history of %s: add a path in history_test.go", name)
	}
}

// constants returns the values of the string constants of package schema whose names begin with the prefix.
func constants(t *testing.T, prefix string) (values []string) {
	t.Helper()
	files, err := filepath.Glob("../schema/*.go")
	require.NoError(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				constant := spec.(*ast.ValueSpec)
				if !strings.HasPrefix(constant.Names[0].Name, prefix) || len(constant.Values) == 0 {
					continue
				}
				if literal, ok := constant.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					value, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					values = append(values, value)
				}
			}
		}
	}
	require.NotEmpty(t, values)
	return values
}

// registry keeps the names of the workflows that are registered with it.
type registry map[string]bool

func (r registry) RegisterWorkflowWithOptions(_ any, options workflow.RegisterOptions) {
	r[options.Name] = true
}

func (r registry) RegisterWorkflow(any) { panic("register it under a name of schema") }

func (r registry) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {
	panic("register it under a name of schema")
}

func (r registry) RegisterNexusService(*nexus.Service) {}
