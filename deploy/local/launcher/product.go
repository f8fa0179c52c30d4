package main

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"axiommind/deploy/local/stack"
)

// This program imports nothing of the product, so that it is compiled in seconds. The names and formats in this file are
// the product's; a test compares them.

// Variables of the environment that the programs read.
const (
	temporalVariable   = "AXIOMMIND_TEMPORAL_ADDRESS"
	clickHouseVariable = "AXIOMMIND_CLICKHOUSE_DSN"
	eraserVariable     = "AXIOMMIND_ERASER_DSN"
	weaviateVariable   = "AXIOMMIND_WEAVIATE_URL"
	weaviateKey        = "WEAVIATE_API_KEY"
	embedderVariable   = "AXIOMMIND_EMBEDDER"
	embedderDirectory  = "AXIOMMIND_EMBEDDER_DIR"
	providerVariable   = "AXIOMMIND_MODEL_PROVIDER"
	modelVariable      = "AXIOMMIND_MODEL"
	payloadKeyVariable = "AXIOMMIND_PAYLOAD_KEY_FILE"
	memoryVariable     = "AXIOMMIND_MEMORY_ROOT"
	configVariable     = "AXIOMMIND_CONFIG"
	queueVariable      = "AXIOMMIND_NO_QUEUE"
	localVariable      = "AXIOMMIND_LOCAL_FILE"
)

// Embedders.
const (
	embedderLocal = "local"
	embedderHash  = "hash"
)

// The default model.
const (
	rulesProvider = "rules"
	rulesModel    = "worth-v4"
)

// keyedProviders are the providers of models that need an API key, and its variable.
var keyedProviders = [][2]string{{"openai", "OPENAI_API_KEY"}, {"gemini", "GEMINI_API_KEY"}}

// Parts of log lines of the worker and the codec server, and names of files.
const (
	workerReady   = `msg="worker is ready"`
	codecReady    = "decrypting at "
	otherSchema   = "database schema does not match the program"
	noEmbedder    = "embedding library"
	workerStop    = 35 * time.Second // Its own limit for running activities is 25 s.
	localKeyName  = "weaviate-api-key"
	localFileName = "axiommind/local.yaml"
)

// localFile returns the file in which the programs of this user look for the stack's addresses: that of [localVariable],
// or the usual one. It is "" if there is no cache directory.
func localFile() string {
	if file := os.Getenv(localVariable); file != "" {
		return file
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(localFileName))
}

// modelText returns the worker's model as the environment chooses it, and how to choose a better one. It is "" if a file of
// settings may choose it.
func modelText(getenv func(string) string) string {
	provider, model := getenv(providerVariable), getenv(modelVariable)
	switch {
	case provider == "" && getenv(configVariable) != "":
		return ""
	case provider != "" && provider != rulesProvider:
		return strings.TrimSuffix(provider+"/"+model, "/")
	}
	advice := "for a better one: starter help configuration"
	for _, p := range keyedProviders {
		if provider == "" && getenv(p[1]) != "" && getenv(embedderVariable) != p[0] {
			advice = fmt.Sprintf("%s is set but not used: set %s=%s", p[1], providerVariable, p[0])
			break
		}
	}
	return fmt.Sprintf("%s/%s (offline; %s)", rulesProvider, cmp.Or(model, rulesModel), advice)
}

// environment returns the addresses as environment variables. Arguments would show them to every user of the machine.
func environment(a stack.Addresses) []string {
	env := []string{
		temporalVariable + "=" + a.Temporal, clickHouseVariable + "=" + a.ClickHouseDSN,
		weaviateVariable + "=http://" + a.WeaviateHost,
	}
	if a.WeaviateKey != "" {
		env = append(env, weaviateKey+"="+a.WeaviateKey)
	}
	if a.EmbedderDir != "" {
		env = append(env, embedderVariable+"="+embedderLocal, embedderDirectory+"="+a.EmbedderDir)
	}
	if a.PayloadKeyFile != "" {
		env = append(env, payloadKeyVariable+"="+a.PayloadKeyFile)
	}
	return env
}

// workerEnvironment is [environment] and the variables of a worker alone. It reads no file that another stack may have
// written.
func workerEnvironment(a stack.Addresses, dir string) []string {
	return append(environment(a),
		eraserVariable+"="+cmp.Or(os.Getenv(eraserVariable), a.ClickHouseDSN),
		memoryVariable+"="+memoryRoot(dir),
		configVariable+"="+cmp.Or(os.Getenv(configVariable), os.DevNull))
}

// memoryRoot returns where the worker keeps the files of the memory: in the stack's directory, so that no two stacks
// write the same files, unless the environment says otherwise.
func memoryRoot(dir string) string {
	return cmp.Or(os.Getenv(memoryVariable), filepath.Join(dir, "memory"))
}

// shownRoot returns the place of the memory's files for people, without the secrets that a URL may contain.
func shownRoot(root string) string {
	if !strings.Contains(root, "://") {
		return root
	}
	u, err := url.Parse(root)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "file":
		return u.Path
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// addressesText returns the YAML in which programs find the addresses.
func addressesText(a stack.Addresses) ([]byte, error) {
	values := map[string]string{
		"temporal-address": a.Temporal, "clickhouse-dsn": a.ClickHouseDSN, "eraser-dsn": a.ClickHouseDSN, "weaviate-url": "http://" + a.WeaviateHost,
		"temporal-ui": a.TemporalUI, "payload-key-file": a.PayloadKeyFile, localKeyName: a.WeaviateKey, "embedder-dir": a.EmbedderDir,
	}
	if a.EmbedderDir != "" {
		values["embedder"] = embedderLocal
	}
	maps.DeleteFunc(values, func(_, value string) bool { return value == "" })
	return yaml.Marshal(values)
}

// payloadKeyFile is the name of the file with the stack's own keys, in its directory: they last as long as its histories.
const payloadKeyFile = "payload.keys"

// payloadKeys returns the file of the keys that encrypt the payloads in the stack's Temporal: the file that the
// environment names, or one in the directory, which the first start makes.
func payloadKeys(dir string) (string, error) {
	file := os.Getenv(payloadKeyVariable)
	if file == "" {
		file = filepath.Join(dir, payloadKeyFile)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			if err := stack.WritePrivate(file, newKeys()); err != nil {
				return "", fmt.Errorf("make a key of payloads: %w", err)
			}
		}
	}
	file, err := filepath.Abs(file)
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		return "", fmt.Errorf("find the keys of payloads: %w", err)
	}
	return file, nil
}

// newKeys is the text of a key file with one new key.
func newKeys() []byte {
	const keyBytes = 32
	raw := make([]byte, keyBytes)
	_, _ = rand.Read(raw) // It never fails.
	// The day distinguishes keys, should one be lost.
	return fmt.Appendf(nil, "# The first key encrypts, all of them decrypt. Data encrypted with a key can't be read without it.\nlocal-%s %s\n",
		time.Now().Format(time.DateOnly), base64.StdEncoding.EncodeToString(raw))
}
