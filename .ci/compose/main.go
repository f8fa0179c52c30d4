// Command compose reads deploy/compose.yaml and deploy/Dockerfile by the libraries of Compose and BuildKit. It is a module of its own, so
// that the programs do not depend on them. deploy/compose_test.go checks the rest.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func main() {
	if err := run(context.Background(), "deploy/compose.yaml", "deploy/Dockerfile"); err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, compose, dockerfile string) error {
	options, err := cli.NewProjectOptions([]string{compose}, cli.WithProfiles([]string{"*"}))
	if err != nil {
		return fmt.Errorf("read %q: %w", compose, err)
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return fmt.Errorf("read %q: %w", compose, err)
	}
	file, err := os.Open(dockerfile)
	if err != nil {
		return fmt.Errorf("read %q: %w", dockerfile, err)
	}
	defer func() { _ = file.Close() }()
	tree, err := parser.Parse(file)
	if err != nil {
		return fmt.Errorf("read %q: %w", dockerfile, err)
	}
	stages, _, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		return fmt.Errorf("read %q: %w", dockerfile, err)
	}
	fmt.Printf("%d services, %d stages\n", len(project.Services), len(stages))
	return nil
}
