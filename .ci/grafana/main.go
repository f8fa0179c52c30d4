// Command grafana reads the queries and rules of deploy/grafana by Prometheus' own parser. It is a module of its own, so that the
// programs do not depend on it. The test in deploy/grafana looks for the metrics in a running worker.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	if err := run("deploy/grafana"); err != nil {
		fmt.Fprintln(os.Stderr, "grafana:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "dashboards", "*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there is no dashboard in %q: %w", dir, err)
	}
	queries := 0
	for _, file := range files {
		n, err := dashboard(file)
		if err != nil {
			return fmt.Errorf("read %q: %w", file, err)
		}
		queries += n
	}
	// It parses the expressions of the rules, and the templates of their annotations.
	groups, errs := rulefmt.ParseFile(filepath.Join(dir, "rules.yaml"), false, model.UTF8Validation)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	rules := 0
	for _, g := range groups.Groups {
		rules += len(g.Rules)
	}
	fmt.Printf("%d dashboards with %d queries, %d rules\n", len(files), queries, rules)
	return nil
}

// variables stand for those of Grafana.
var variables = strings.NewReplacer("$__rate_interval", "5m")

// dashboard parses the queries of a dashboard, and returns their number.
func dashboard(file string) (queries int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return 0, err
	}
	for _, p := range d.Panels {
		for _, t := range p.Targets {
			if _, err := parser.ParseExpr(variables.Replace(t.Expr)); err != nil {
				return 0, fmt.Errorf("%s: %q: %w", p.Title, t.Expr, err)
			}
			queries++
		}
	}
	return queries, nil
}
