// Helm checks the chart without a cluster: Helm's own lint, the manifests of several sets of values against the schemas of
// Kubernetes and KEDA, and each pod's settings, flags and variables by the programs that will read them.
// usage: go run -C .ci/helm . -chart DIR -programs DIR
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"
)

// kubernetes are the lowest version that the chart allows and the newest one whose schemas a Go module carries.
var kubernetes = []string{"1.27.0", "1.30.0"}

func main() {
	chart := flag.String("chart", "", "directory of the chart")
	programs := flag.String("programs", "", "directory of the programs worker and starter")
	show := flag.String("print", "", "print the manifests of this set of values of testdata, and check nothing")
	flag.Parse()
	if *show != "" {
		if err := printSet(*chart, *show); err != nil {
			fmt.Fprintln(os.Stderr, "helm:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*chart, *programs); err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		os.Exit(1)
	}
}

func printSet(chart, name string) error {
	values, err := chartutil.ReadValuesFile(filepath.Join(chart, "testdata", name+".yaml"))
	if err != nil {
		return err
	}
	manifests, err := render(chart, values, kubernetes[0])
	for _, m := range manifests {
		fmt.Printf("---\n%s\n", m.text)
	}
	return err
}

func run(chart, programs string) error {
	work, err := os.MkdirTemp("", "helm")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	validators, err := newValidators(filepath.Join(work, "schemas"))
	if err != nil {
		return err
	}
	check := &programCheck{programs: programs, work: work, given: map[string]string{}, known: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(chart, "testdata", "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("find sets of values in %q: %w", chart, errors.Join(err, os.ErrNotExist))
	}
	var errs []error
	for _, file := range files {
		values, err := chartutil.ReadValuesFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		manifests, pods, err := checkSet(chart, values, validators, check)
		if err != nil {
			errs = append(errs, fmt.Errorf("values %s: %w", name, err))
			continue
		}
		fmt.Printf("values %-12s %2d manifests, %d pods\n", name, manifests, pods)
	}
	errs = append(errs, check.unknown(), checkRefusals(chart))
	return errors.Join(errs...)
}

// checkSet checks the chart with one set of values.
func checkSet(chart string, values map[string]any, validators map[string]*validator, check *programCheck) (manifests, pods int, err error) {
	if err := lintChart(chart, values); err != nil {
		return 0, 0, err
	}
	var errs []error
	var last []manifest
	for _, version := range kubernetes {
		if last, err = render(chart, values, version); err != nil {
			return 0, 0, err
		}
		for _, m := range last {
			if err := validators[version].validate(m); err != nil {
				errs = append(errs, fmt.Errorf("kubernetes %s: %w", version, err))
			}
		}
	}
	pods, err = check.all(last)
	return len(last), pods, errors.Join(append(errs, err)...)
}

// refusal is a change to the minimal values that the chart has to refuse.
type refusal struct {
	// Set has values by their paths, such as workers.models.enabled.
	Set map[string]any `json:"set"`
	// Says is a part of the error.
	Says string `json:"says"`
}

// checkRefusals checks that wrong values are refused, with a useful error.
func checkRefusals(chart string) error {
	data, err := os.ReadFile(filepath.Join(chart, "testdata", "refused", "values.yaml"))
	if err != nil {
		return err
	}
	var refusals []refusal
	if err := yaml.UnmarshalStrict(data, &refusals); err != nil {
		return err
	}
	var errs []error
	for _, r := range refusals {
		values, err := chartutil.ReadValuesFile(filepath.Join(chart, "testdata", "minimal.yaml"))
		if err != nil {
			return err
		}
		for path, value := range r.Set {
			setPath(values, strings.Split(path, "."), value)
		}
		if _, err = render(chart, values, kubernetes[0]); err == nil || !strings.Contains(err.Error(), r.Says) {
			errs = append(errs, fmt.Errorf("values %v: want a refusal with %q, got: %w", r.Set, r.Says, cmpErr(err)))
		}
	}
	if len(errs) == 0 {
		fmt.Printf("%d sets of wrong values are refused\n", len(refusals))
	}
	return errors.Join(errs...)
}

var errNone = errors.New("no error")

func cmpErr(err error) error {
	if err == nil {
		return errNone
	}
	return err
}

// setPath sets a value in nested maps.
func setPath(values map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		next, is := values[name].(map[string]any)
		if !is {
			next = map[string]any{}
			values[name] = next
		}
		values = next
	}
	values[path[len(path)-1]] = value
}

// sorted returns the keys of a map in order.
func sorted[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
