package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stopMargin is how much longer than --stop-timeout the grace period of a pod has to be: see starter help operating.
const stopMargin = 5 * time.Second

// programCheck has the programs read the settings, flags and variables that the chart gives them.
type programCheck struct {
	programs, work string
	// given are the variables that the chart sets, each with the place of one of its uses.
	given map[string]string
	// known are those that a worker has read. The starter reads the same, but for keys of models that it never asks.
	known map[string]bool
}

// ownVariables are not of the programs: Go and the state directory read them.
var ownVariables = map[string]bool{"HOME": true, "XDG_STATE_HOME": true}

// all checks the pods of the manifests, and returns their number.
func (c *programCheck) all(manifests []manifest) (int, error) {
	settings := map[string]string{}
	for _, m := range manifests {
		if at(m.object, "kind") == "ConfigMap" {
			settings[fmt.Sprint(at(m.object, "metadata", "name"))] = fmt.Sprint(at(m.object, "data", "settings.yaml"))
		}
	}
	var errs []error
	pods := 0
	for _, m := range manifests {
		spec := at(m.object, "spec", "template", "spec")
		if spec == nil {
			continue
		}
		pods++
		if err := c.pod(spec, settings); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.name, err))
		}
	}
	return pods, errors.Join(errs...)
}

func (c *programCheck) pod(spec any, settings map[string]string) error {
	if at(spec, "automountServiceAccountToken") != false || at(spec, "securityContext", "runAsNonRoot") != true {
		return errors.New("the pod may run as root, or gets a token of Kubernetes")
	}
	container := list(spec, "containers")[0]
	if at(container, "securityContext", "readOnlyRootFilesystem") != true {
		return errors.New("the container may write to its image")
	}
	text := ""
	for _, volume := range list(spec, "volumes") {
		if volume["name"] == "settings" {
			text = settings[fmt.Sprint(at(volume, "configMap", "name"))]
		}
	}
	file := filepath.Join(c.work, "settings.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	command := append(texts(container["command"]), texts(container["args"])...)
	if out, err := c.execute(append(command, "-h"), nil); err != nil {
		return fmt.Errorf("%q refuses its command: %w: %s", command, err, out)
	}
	variables := c.variables(container, file)
	shown, err := c.show(command[0], variables)
	if err != nil {
		return err
	}
	return c.compare(command, shown, spec)
}

// variables returns those of the container, with stand-ins for secrets.
func (c *programCheck) variables(container map[string]any, file string) []string {
	out := []string{"HOME=" + c.work, "XDG_STATE_HOME=" + c.work}
	for _, v := range list(container, "env") {
		name := fmt.Sprint(v["name"])
		if ownVariables[name] {
			continue
		}
		if strings.HasPrefix(name, "AXIOMMIND_") || v["valueFrom"] != nil {
			c.given[name] = fmt.Sprint(container["name"])
		}
		value := "http://stand-in.example.com:8123/memory"
		if name == "AXIOMMIND_CONFIG" {
			value = file
		}
		out = append(out, name+"="+value)
	}
	return out
}

// effective is a line of config show.
type effective struct{ Name, Value, Source string }

// show returns the settings as the program reads them. It fails for a setting that the program does not have.
func (c *programCheck) show(program string, variables []string) (map[string]effective, error) {
	out, err := c.execute([]string{program, "config", "show", "-o", "json"}, variables)
	if err != nil {
		return nil, fmt.Errorf("%s refuses its settings: %w: %s", program, err, out)
	}
	var lines []effective
	if err := json.Unmarshal(out, &lines); err != nil {
		return nil, fmt.Errorf("parse the settings of %s: %w", program, err)
	}
	shown := map[string]effective{}
	for _, e := range lines {
		shown[e.Name] = e
		if program != "worker" {
			continue
		}
		if variable, is := strings.CutPrefix(e.Source, "variable "); is {
			c.known[variable] = true
		}
		if strings.HasPrefix(e.Source, "file ") {
			c.known["AXIOMMIND_CONFIG"] = true
		}
	}
	return shown, nil
}

// compare checks the settings of a worker with its pod.
func (c *programCheck) compare(command []string, shown map[string]effective, spec any) error {
	if len(command) > 1 {
		return nil // It stops at once, or is no worker.
	}
	stop, err := time.ParseDuration(shown["stop-timeout"].Value)
	if err != nil {
		return fmt.Errorf("parse the stop timeout: %w", err)
	}
	seconds, _ := at(spec, "terminationGracePeriodSeconds").(float64)
	if grace := time.Duration(seconds) * time.Second; grace < stop+stopMargin {
		return fmt.Errorf("the pod has %s to end, and the worker takes up to %s: want %s more", grace, stop, stopMargin)
	}
	help, err := c.execute([]string{"worker", "-h"}, nil)
	if err != nil {
		return err
	}
	words := strings.FieldsFunc(string(help), func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
	for queue := range strings.SplitSeq(shown["task-queue"].Value, ":") {
		if queue != "" && !slices.Contains(words, queue) {
			return fmt.Errorf("worker -h names no task queue %q", queue)
		}
	}
	return nil
}

// unknown returns an error for variables that no program has read.
func (c *programCheck) unknown() error {
	var errs []error
	for _, name := range sorted(c.given) {
		if !c.known[name] {
			errs = append(errs, fmt.Errorf("no worker reads the variable %s, which %s gets", name, c.given[name]))
		}
	}
	return errors.Join(errs...)
}

func (c *programCheck) execute(command, variables []string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), filepath.Join(c.programs, command[0]), command[1:]...)
	cmd.Env = append([]string{"HOME=" + c.work, "XDG_STATE_HOME=" + c.work}, variables...)
	return cmd.CombinedOutput()
}

// texts returns the strings of a list, as Kubernetes expands them.
func texts(list any) []string {
	values, _ := list.([]any)
	var out []string
	for _, v := range values {
		out = append(out, strings.ReplaceAll(fmt.Sprint(v), "$$", "$"))
	}
	return out
}
