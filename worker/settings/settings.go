// Package settings reads where the servers are from the places where all programs look for it: the environment, and a YAML
// file. It imports little, so that a hook of an agent starts fast; worker/service builds its configuration on it.
package settings

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Prefix begins the name of each variable of the environment.
const Prefix = "AXIOMMIND_"

// Defaults of the servers' addresses.
const (
	DefaultClickHouseDSN     = "http://127.0.0.1:8123/default"
	DefaultTemporalAddress   = "127.0.0.1:7233"
	DefaultTemporalNamespace = "default"
)

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

// Read reads a flat YAML mapping from names to values or lists of values. Programs may share a file: each reads the
// settings that it knows. An empty path has none.
func Read(path string) (map[string][]string, error) {
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

// Values are settings that a program looks up one by one.
type Values struct {
	getenv func(string) string
	file   map[string][]string
}

// Load reads the file that is named, or else the one that AXIOMMIND_CONFIG names, or else the fallback if it exists.
func Load(file string, getenv func(string) string, fallback string) (Values, error) {
	path := cmp.Or(file, getenv(Prefix+"CONFIG"))
	if path == "" && fallback != "" {
		if _, err := os.Stat(fallback); err == nil {
			path = fallback
		}
	}
	values, err := Read(path)
	return Values{getenv, values}, err
}

// Get returns the setting: from the environment, else from the file, else "".
func (v Values) Get(setting string) string {
	return cmp.Or(v.getenv(Variable(setting)), strings.Join(v.file[setting], ""))
}

// Bool is [Values.Get] for a setting that is true or false. Without it, it is false.
func (v Values) Bool(setting string) (bool, error) {
	text := v.Get(setting)
	if text == "" {
		return false, nil
	}
	is, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("setting %s is %q: want true or false", setting, text)
	}
	return is, nil
}

// True reports whether the setting is true. One that can't be read is not.
func (v Values) True(setting string) bool {
	is, err := v.Bool(setting)
	return err == nil && is
}

// Temporal returns how to reach Temporal.
func (v Values) Temporal() (Temporal, error) {
	secure, err := v.Bool("temporal-tls")
	apiKey, unread := Secret(v.getenv, TemporalAPIKey)
	return Temporal{
		Address:        cmp.Or(v.Get("temporal-address"), DefaultTemporalAddress),
		Namespace:      cmp.Or(v.Get("temporal-namespace"), DefaultTemporalNamespace),
		APIKey:         apiKey,
		TLS:            secure,
		CA:             v.Get("tls-ca"),
		Cert:           v.Get("temporal-tls-cert"),
		Key:            v.Get("temporal-tls-key"),
		ServerName:     v.Get("temporal-tls-server-name"),
		PayloadKeyFile: v.Get("payload-key-file"),
	}, errors.Join(err, unread)
}

// ClickHouse returns the DSN of ClickHouse.
func (v Values) ClickHouse() string { return cmp.Or(v.Get("clickhouse-dsn"), DefaultClickHouseDSN) }

// RootCAs returns the authorities that servers' certificates may come from. See [Roots].
func (v Values) RootCAs() (*x509.CertPool, error) { return Roots(v.Get("tls-ca")) }
