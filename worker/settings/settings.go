// Package settings reads the settings of programs from flags, the environment and a YAML file, and has those of the servers.
// It imports little, so that a hook of an agent starts fast; worker/service adds the settings of the other programs.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// Prefix begins the name of each variable of the environment.
const Prefix = "AXIOMMIND_"

// LocalVariable names another file than the usual one for [LocalFile], for a second stack of the same user, and for tests.
const LocalVariable = Prefix + "LOCAL_FILE"

// Variable returns the name of the variable of the environment that holds the setting.
func Variable(setting string) string {
	return Prefix + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

// LocalFile returns the file in which the local stack records the addresses of its servers and their tokens, so that
// programs of the same user find them: the one that the variable [LocalVariable] names, or one in the user's cache directory. It is ""
// if there is none.
func LocalFile() string {
	if file := os.Getenv(LocalVariable); file != "" {
		return file
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "axiommind", "local.yaml")
}

// read reads a flat YAML mapping from names to values or lists of values. An empty path has none.
func read(path string) (map[string][]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	var raw map[string]any
	if err := yaml.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("read configuration %q: %w", path, err)
	}
	values := make(map[string][]string, len(raw))
	for name, value := range raw {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, one := range list {
			if text := fmt.Sprint(one); text != "" {
				values[name] = append(values[name], text)
			}
		}
	}
	return values, nil
}

// File is a file of settings. Programs may share one: each takes the settings that it knows.
type File struct {
	// Path is "" if no file is read.
	Path string
	// Local is true for the file of a local stack, which no setting named.
	Local  bool
	Values map[string][]string
}

// Open reads the file that is named, or else the one that AXIOMMIND_CONFIG names, or else the local stack's if it exists.
func Open(path string, getenv func(string) string, local string) (File, error) {
	file := File{Path: cmp.Or(path, getenv(Prefix+"CONFIG"))}
	if file.Path == "" && local != "" {
		if _, err := os.Stat(local); err == nil {
			file.Path, file.Local = local, true
		}
	}
	var err error
	file.Values, err = read(file.Path)
	return file, err
}

// Source names the file as the source of a setting.
func (file File) Source() string {
	if file.Local {
		return "local stack " + file.Path
	}
	return "file " + file.Path
}

// Fill sets each flag that was not given from the environment, or else from the file, and removes the known keys from
// Values. It returns the source of each setting that has one. The error lists every mistake.
func (file File) Fill(f *pflag.FlagSet, getenv func(string) string) (map[string]string, error) {
	sources := map[string]string{}
	var errs []error
	f.VisitAll(func(flag *pflag.Flag) {
		inFile := file.Values[flag.Name]
		delete(file.Values, flag.Name)
		variable := Variable(flag.Name)
		given, from := fromVariable(flag, getenv(variable)), "variable "+variable
		switch {
		case flag.Changed:
			sources[flag.Name] = "flag --" + flag.Name
			return
		case len(given) == 0 && len(inFile) > 0 && flag.Name != "config":
			given, from = inFile, file.Source()
		case len(given) == 0:
			return
		}
		sources[flag.Name] = from
		if _, list := flag.Value.(pflag.SliceValue); len(given) > 1 && !list {
			errs = append(errs, fmt.Errorf("%s: %s takes one value, not %d", from, flag.Name, len(given)))
			return
		}
		for _, one := range given {
			if err := f.Set(flag.Name, one); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", from, FlagError(err)))
			}
		}
	})
	return sources, errors.Join(errs...)
}

// fromVariable returns the values in an environment variable. Several values are separated as in PATH.
func fromVariable(flag *pflag.Flag, text string) []string {
	if _, list := flag.Value.(pflag.SliceValue); list {
		return slices.DeleteFunc(filepath.SplitList(text), func(s string) bool { return s == "" })
	}
	if text == "" {
		return nil
	}
	return []string{text}
}

// Load reads the settings of the servers that a hook needs, without a key. It ignores settings that it does not know. Those that it
// can read are set even if there is an error.
func Load(path string, getenv func(string) string, local string) (Servers, error) {
	var s Servers
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	Add(f, slices.DeleteFunc(s.Settings(), func(s Setting) bool { return s.Readers != Hooks }))
	file, unread := Open(path, getenv, local)
	_, err := file.Fill(f, getenv)
	return s, errors.Join(unread, err)
}
