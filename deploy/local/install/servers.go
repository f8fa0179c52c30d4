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

// tool is a server built from a module of its own beside this package, so that
// its hundreds of dependencies stay out of this module.
type tool struct {
	name, module, version, pkg string
	// edits change the tool's own source before it is built, by file.
	edits map[string]edit
}

// edit replaces old, which must occur exactly once.
type edit struct{ old, new string }

var temporal = tool{
	name: "temporal", module: "github.com/temporalio/cli", version: TemporalVersion,
	pkg: "github.com/temporalio/cli/cmd/temporal",
}

// Weaviate has no setting for the address of these two listeners and would open
// them, with anonymous access, to the whole network.
var weaviate = tool{
	name: "weaviate", module: "github.com/weaviate/weaviate", version: WeaviateVersion,
	pkg: "github.com/weaviate/weaviate/cmd/weaviate-server",
	edits: map[string]edit{
		"adapters/handlers/grpc/server.go":                 {`":%d"`, `"127.0.0.1:%d"`},
		"adapters/handlers/rest/clusterapi/grpc/server.go": {`":%d"`, `"127.0.0.1:%d"`},
		"adapters/handlers/rest/clusterapi/serve.go":       {`":%d"`, `"127.0.0.1:%d"`},
	},
}

// Temporal returns the path of Temporal's command, which holds its dev server.
func (c Cache) Temporal(ctx context.Context, progress Progress) (string, error) {
	return c.tool(ctx, temporal, progress)
}

// Weaviate returns the path of Weaviate's server, changed to listen on loopback
// only.
func (c Cache) Weaviate(ctx context.Context, progress Progress) (string, error) {
	return c.tool(ctx, weaviate, progress)
}

func (c Cache) tool(ctx context.Context, t tool, progress Progress) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", fmt.Errorf("build %s: %w", t.name, err)
	}
	mod, sum, err := readModule(filepath.Join(root, "deploy", "local", t.name))
	if err != nil {
		return "", fmt.Errorf("build %s: %w", t.name, err)
	}
	key := fmt.Sprintf("%s-%s-%s-%s", t.name, t.version, digest(mod, sum, fmt.Append(nil, t.edits)), platform())
	report := func(state string) { progress.report(t.name, state) }
	dir, err := c.entry(ctx, key, report, func(dir string) error {
		report("building " + t.version + " from source, the first time only")
		return t.build(ctx, dir, mod, sum)
	})
	if err != nil {
		return "", fmt.Errorf("build %s: %w", t.name, err)
	}
	return filepath.Join(dir, t.name), nil
}

func readModule(dir string) (mod, sum []byte, err error) {
	if mod, err = os.ReadFile(filepath.Join(dir, "go.mod")); err != nil {
		return nil, nil, err
	}
	sum, err = os.ReadFile(filepath.Join(dir, "go.sum"))
	return mod, sum, err
}

func (t tool) build(ctx context.Context, dir string, mod, sum []byte) error {
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
	if len(t.edits) > 0 {
		if err := t.editSource(ctx, work); err != nil {
			return err
		}
		mod = fmt.Appendf(mod, "\nreplace %s => ./source\n", t.module)
		if err := os.WriteFile(filepath.Join(work, "go.mod"), mod, 0o644); err != nil {
			return err
		}
	}
	if err := goBuild(ctx, work, filepath.Join(dir, t.name), t.pkg); err != nil {
		return err
	}
	return os.RemoveAll(work)
}

// editSource copies the tool's verified source to work/source and changes it.
func (t tool) editSource(ctx context.Context, work string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", t.module+"@"+t.version)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	var out bytes.Buffer
	cmd.Stdout = &out
	runErr := child.Run(ctx, cmd)
	var answer struct{ Dir, Error string }
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || runErr != nil || answer.Error != "" {
		return fmt.Errorf("download %s@%s: %w %s", t.module, t.version, errors.Join(runErr, err), answer.Error)
	}
	source := filepath.Join(work, "source")
	if err := os.CopyFS(source, os.DirFS(answer.Dir)); err != nil {
		return fmt.Errorf("copy the source of %s: %w", t.name, err)
	}
	for name, e := range t.edits {
		path := filepath.Join(source, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := bytes.Count(text, []byte(e.old)); n != 1 {
			return fmt.Errorf("edit %s: %q is there %d times, want once", name, e.old, n)
		}
		if err := os.WriteFile(path, bytes.Replace(text, []byte(e.old), []byte(e.new), 1), 0o644); err != nil {
			return err
		}
	}
	return nil
}
