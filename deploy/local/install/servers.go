package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"axiommind/deploy/local/child"
)

// The versions of the servers that are built from their Go modules; the go.mod
// files in deploy/local/temporal and deploy/local/weaviate name the same.
const (
	TemporalVersion = "v1.5.1"
	WeaviateVersion = "v1.35.2"
)

// tool is a server built from a module of its own next to this package, so that its hundreds of dependencies stay
// out of this module.
type tool struct {
	name, module, version, pkg string
	// source is the module whose source is changed before the build.
	source changed
	// weight orders the builds: the longest goes first.
	weight int
}

// changed is a module with edits to its source.
type changed struct {
	module, version string
	edits           []edit
}

var temporal = tool{
	name: "temporal", module: "github.com/temporalio/cli", version: TemporalVersion,
	pkg:    "github.com/temporalio/cli/cmd/temporal",
	source: changed{"go.temporal.io/server", "v1.29.1", temporalEdits},
	weight: temporalWeight,
}

var weaviate = tool{
	name: "weaviate", module: "github.com/weaviate/weaviate", version: WeaviateVersion,
	pkg:    "github.com/weaviate/weaviate/cmd/weaviate-server",
	source: changed{"github.com/weaviate/weaviate", WeaviateVersion, weaviateEdits},
	weight: weaviateWeight,
}

// Temporal returns the path of Temporal's command, which contains its dev server, without the stores and archives
// that the stack does not use.
func (c Cache) Temporal(ctx context.Context, progress Progress) (string, error) {
	return c.tool(ctx, temporal, progress)
}

// Weaviate returns the path of Weaviate's server, changed to listen on loopback
// only, without its modules.
func (c Cache) Weaviate(ctx context.Context, progress Progress) (string, error) {
	return c.tool(ctx, weaviate, progress)
}

func (c Cache) tool(ctx context.Context, t tool, progress Progress) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", fmt.Errorf("build %s: %w", t.name, err)
	}
	mod, sum, key, err := t.read(root)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", t.name, err)
	}
	report := func(state string) { progress.report(t.name, state) }
	dir, err := c.entry(ctx, key, report, func(dir string) error {
		report("building " + t.version + " from source, the first time only")
		return t.build(ctx, dir, mod, sum, c.meter(t.name))
	})
	if err != nil {
		return "", fmt.Errorf("build %s: %w", t.name, err)
	}
	return filepath.Join(dir, t.name), nil
}

// read returns the module from which the tool is built, and its key in the cache.
func (t tool) read(root string) (mod, sum []byte, key string, err error) {
	mod, sum, err = readModule(filepath.Join(root, "deploy", "local", t.name))
	return mod, sum, fmt.Sprintf("%s-%s-%s-%s", t.name, t.version, digest(mod, sum, fmt.Append(nil, t.source)), platform()), err
}

func readModule(dir string) (mod, sum []byte, err error) {
	if mod, err = os.ReadFile(filepath.Join(dir, "go.mod")); err != nil {
		return nil, nil, err
	}
	sum, err = os.ReadFile(filepath.Join(dir, "go.sum"))
	return mod, sum, err
}

func (t tool) build(ctx context.Context, dir string, mod, sum []byte, progress meter) error {
	work := filepath.Join(dir, "build")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "go.sum"), sum, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "go.mod"), mod, 0o644); err != nil {
		return err
	}
	if err := t.source.copyTo(ctx, work); err != nil {
		return err
	}
	mod = fmt.Appendf(mod, "\nreplace %s => ./source\n", t.source.module)
	if err := os.WriteFile(filepath.Join(work, "go.mod"), mod, 0o644); err != nil {
		return err
	}
	b := build{dir: work, out: filepath.Join(dir, t.name), pkgs: []string{t.pkg}, weight: t.weight, progress: progress}
	if err := b.run(ctx); err != nil {
		return err
	}
	return os.RemoveAll(work)
}

// copyTo copies the module's verified source to work/source and changes it.
func (c changed) copyTo(ctx context.Context, work string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", c.module+"@"+c.version)
	cmd.Dir, cmd.Env = work, goEnv()
	var out bytes.Buffer
	cmd.Stdout = &out
	runErr := child.Run(ctx, cmd)
	var answer struct{ Dir, Error string }
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || runErr != nil || answer.Error != "" {
		return fmt.Errorf("download %s@%s: %w %s", c.module, c.version, errors.Join(runErr, err), answer.Error)
	}
	source := filepath.Join(work, "source")
	if err := os.CopyFS(source, os.DirFS(answer.Dir)); err != nil {
		return fmt.Errorf("copy the source of %s: %w", c.module, err)
	}
	for _, e := range c.edits {
		if err := e.apply(source); err != nil {
			return err
		}
	}
	return nil
}
