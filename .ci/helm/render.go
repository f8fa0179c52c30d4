package main

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

// The release's name is as long as Helm allows.
const (
	releaseName      = "a-release-with-a-name-of-fifty-three-characters-in-a1"
	releaseNamespace = "memory"
)

// manifest is one object for Kubernetes.
type manifest struct {
	// name is kind and name.
	name   string
	text   []byte
	object map[string]any
}

// lintChart runs Helm's linter. Its only accepted remark is that the chart has no icon.
func lintChart(chart string, values map[string]any) error {
	version, err := chartutil.ParseKubeVersion(kubernetes[len(kubernetes)-1])
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range lint.AllWithKubeVersion(chart, values, releaseNamespace, version).Messages {
		if m.Severity > support.InfoSev || !strings.Contains(m.Err.Error(), "icon is recommended") {
			errs = append(errs, fmt.Errorf("helm lint: %w", m))
		}
	}
	return errors.Join(errs...)
}

// render returns the manifests of a release, with the hooks.
func render(dir string, values map[string]any, kubeVersion string) ([]manifest, error) {
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	version, err := chartutil.ParseKubeVersion(kubeVersion)
	if err != nil {
		return nil, err
	}
	capabilities.KubeVersion = *version
	if !chartutil.IsCompatibleRange(chart.Metadata.KubeVersion, capabilities.KubeVersion.String()) {
		return nil, fmt.Errorf("the chart wants kubernetes %s, not %s", chart.Metadata.KubeVersion, kubeVersion)
	}
	release := chartutil.ReleaseOptions{Name: releaseName, Namespace: releaseNamespace, Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, values, release, capabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: false, LintMode: false}.Render(chart, all)
	if err != nil {
		return nil, err
	}
	var out []manifest
	for _, file := range sorted(files) {
		if path.Ext(file) != ".yaml" {
			continue
		}
		for _, text := range releaseutil.SplitManifests(files[file]) {
			m := manifest{text: []byte(text)}
			if err := yaml.UnmarshalStrict(m.text, &m.object); err != nil {
				return nil, fmt.Errorf("parse %s: %w:\n%s", file, err, text)
			}
			if m.object == nil {
				continue
			}
			m.name = fmt.Sprint(at(m.object, "kind"), " ", at(m.object, "metadata", "name"))
			out = append(out, m)
		}
	}
	return out, nil
}

// at returns the value at a path, or nil.
func at(object any, path ...string) any {
	for _, name := range path {
		m, _ := object.(map[string]any)
		object = m[name]
	}
	return object
}

// list returns the objects of the list at a path.
func list(object any, path ...string) []map[string]any {
	values, _ := at(object, path...).([]any)
	var out []map[string]any
	for _, v := range values {
		m, _ := v.(map[string]any)
		out = append(out, m)
	}
	return out
}
