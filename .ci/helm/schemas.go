package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	kubeconform "github.com/yannh/kubeconform/pkg/validator"
	"sigs.k8s.io/yaml"
)

// Modules that carry the schemas, as in schemas/go.mod.
const (
	kubernetesModule = "sigs.k8s.io/kubectl-validate"
	kedaModule       = "github.com/kedacore/keda/v2"
)

// groups are the kinds that the chart uses, by the paths of the published documents.
var groups = map[string][]string{
	"api/v1":                    {"ConfigMap", "Service", "ServiceAccount"},
	"apis/apps/v1":              {"Deployment"},
	"apis/autoscaling/v2":       {"HorizontalPodAutoscaler"},
	"apis/batch/v1":             {"Job"},
	"apis/networking.k8s.io/v1": {"NetworkPolicy"},
	"apis/policy/v1":            {"PodDisruptionBudget"},
}

// validator checks manifests by kubeconform, for one version of Kubernetes.
type validator struct{ kubeconform kubeconform.Validator }

// newValidators writes the schemas in the form that kubeconform reads, into dir. It would download them otherwise.
func newValidators(dir string) (map[string]*validator, error) {
	modules, err := download()
	if err != nil {
		return nil, err
	}
	out := map[string]*validator{}
	for _, version := range kubernetes {
		at := filepath.Join(dir, version)
		if err := os.MkdirAll(at, 0o700); err != nil {
			return nil, err
		}
		minor := version[:strings.LastIndexByte(version, '.')]
		for group, kinds := range groups {
			file := filepath.Join(modules[kubernetesModule], "pkg", "openapiclient", "builtins", minor, filepath.FromSlash(group)+".json")
			if err := writeGroup(file, kinds, at); err != nil {
				return nil, err
			}
		}
		if err := writeCRD(filepath.Join(modules[kedaModule], "config", "crd", "bases", "keda.sh_scaledobjects.yaml"), at); err != nil {
			return nil, err
		}
		location := filepath.Join(at, "{{ .ResourceKind }}{{ .KindSuffix }}.json")
		k, err := kubeconform.New([]string{location}, kubeconform.Opts{Strict: true, KubernetesVersion: version})
		if err != nil {
			return nil, err
		}
		out[version] = &validator{k}
	}
	return out, nil
}

// download returns the directories of the modules, whose sums Go checks.
func download() (map[string]string, error) {
	cmd := exec.CommandContext(context.Background(), "go", "mod", "download", "-json")
	cmd.Dir, cmd.Stderr = "schemas", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("download the schemas: %w", err)
	}
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return dirs, nil
		} else if err != nil {
			return nil, err
		}
		dirs[m.Path] = m.Dir
	}
}

// writeGroup writes the schemas of the kinds of an OpenAPI document.
func writeGroup(file string, kinds []string, dir string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var document struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return fmt.Errorf("parse %q: %w", file, err)
	}
	for _, schema := range document.Components.Schemas {
		forbidOthers(schema)
	}
	for name, schema := range document.Components.Schemas {
		for _, kind := range list(schema, "x-kubernetes-group-version-kind") {
			if !slices.Contains(kinds, fmt.Sprint(kind["kind"])) {
				continue
			}
			text, err := json.Marshal(map[string]any{"$ref": "#/components/schemas/" + name, "components": document.Components})
			if err != nil {
				return err
			}
			if err := writeSchema(dir, fmt.Sprint(kind["kind"]), fmt.Sprint(kind["group"]), fmt.Sprint(kind["version"]), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeCRD writes the schemas of the versions of a custom resource.
func writeCRD(file, dir string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return fmt.Errorf("parse %q: %w", file, err)
	}
	for _, version := range list(crd, "spec", "versions") {
		schema, _ := at(version, "schema", "openAPIV3Schema").(map[string]any)
		forbidOthers(schema)
		if metadata, is := at(schema, "properties", "metadata").(map[string]any); is {
			delete(metadata, "additionalProperties") // Each object has it; the schema leaves it open.
		}
		text, err := json.Marshal(schema)
		if err != nil {
			return err
		}
		kind, group := at(crd, "spec", "names", "kind"), at(crd, "spec", "group")
		if err := writeSchema(dir, fmt.Sprint(kind), fmt.Sprint(group), fmt.Sprint(version["name"]), text); err != nil {
			return err
		}
	}
	return nil
}

func writeSchema(dir, kind, group, version string, text []byte) error {
	short, _, _ := strings.Cut(group, ".")
	name := strings.ToLower(kind) + "-" + version + ".json"
	if short != "" {
		name = strings.ToLower(kind) + "-" + short + "-" + version + ".json"
	}
	return os.WriteFile(filepath.Join(dir, name), text, 0o600)
}

// forbidOthers makes every object with named properties refuse others, as the API server's strict validation does.
func forbidOthers(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		_, named := s["properties"].(map[string]any)
		if _, open := s["additionalProperties"]; named && !open && s["x-kubernetes-preserve-unknown-fields"] != true {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			forbidOthers(part)
		}
	case []any:
		for _, part := range s {
			forbidOthers(part)
		}
	}
}

// validate returns the violations of a manifest. A kind without a schema is one.
func (v *validator) validate(m manifest) error {
	var errs []error
	for _, result := range v.kubeconform.Validate(m.name, io.NopCloser(bytes.NewReader(m.text))) {
		if result.Status != kubeconform.Valid {
			errs = append(errs, fmt.Errorf("%s: %w", m.name, cmpErr(result.Err)))
		}
	}
	return errors.Join(errs...)
}
