package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/deploy/local/stack"
	"axiommind/schema"
	"axiommind/worker/payload"
	"axiommind/worker/service"
)

// searchAttributes are registered with Temporal, name to type.
func searchAttributes() map[string]string {
	return map[string]string{schema.AttributeProject: "Keyword", schema.AttributeSession: "Keyword"}
}

// prepare brings ClickHouse to the worker's schema, and leaves the addresses where the programs on
// this machine look for them. It is run at each start, before the worker.
func prepare(ctx context.Context, st *stack.Stack, kept stack.Addresses) error {
	conn, err := eventlog.Connect(ctx, st.Addresses().ClickHouseDSN, eventlog.ConnectOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := eventlog.Migrate(ctx, conn); err != nil {
		return err
	}
	return writeAddresses(service.LocalConfigFile(), kept)
}

// embedderVariable is the variable by which a person chooses another embedder than the stack's.
const embedderVariable = "AXIOMMIND_EMBEDDER"

// payloadKeyFile is the name of the file with the stack's own keys, in its directory: they last as long as its histories.
const payloadKeyFile = "payload.keys"

// payloadKeys returns the keys that encrypt what the stack's Temporal stores, and their file: the one that the environment
// names, or one in the directory, which the first start makes.
func payloadKeys(dir string) (file string, ring *payload.Ring, err error) {
	file = os.Getenv(payloadKeyVariable)
	if file == "" {
		file = filepath.Join(dir, payloadKeyFile)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			// The day tells keys apart, should one be lost.
			if err := stack.WritePrivate(file, payload.NewFile("local-"+time.Now().Format(time.DateOnly))); err != nil {
				return "", nil, fmt.Errorf("make a key of payloads: %w", err)
			}
		}
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", nil, fmt.Errorf("find the keys of payloads: %w", err)
	}
	ring, err = payload.Load(file)
	return file, ring, err
}

// payloadKeyVariable is the variable by which a person gives keys of payloads.
const payloadKeyVariable = "AXIOMMIND_PAYLOAD_KEY_FILE"

func writeAddresses(path string, a stack.Addresses) error {
	if path == "" {
		return nil
	}
	text, err := addressesText(a)
	if err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	dir := filepath.Dir(path)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	if err := stack.WritePrivate(path, text); err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	return nil
}

// forgetAddresses removes what writeAddresses wrote, unless another stack has written since.
func forgetAddresses(path string, a stack.Addresses) error {
	text, err := addressesText(a)
	if err != nil || path == "" {
		return err
	}
	if there, err := os.ReadFile(path); err != nil || !bytes.Equal(there, text) {
		return nil //nolint:nilerr // There is nothing to remove, or it is another's.
	}
	return os.Remove(path)
}

func addressesText(a stack.Addresses) ([]byte, error) {
	values := map[string]string{
		"temporal-address": a.Temporal, "clickhouse-dsn": a.ClickHouseDSN, "eraser-dsn": a.ClickHouseDSN, "weaviate-url": "http://" + a.WeaviateHost,
	}
	if a.TemporalUI != "" {
		values["temporal-ui"] = a.TemporalUI
	}
	if a.PayloadKeyFile != "" {
		values["payload-key-file"] = a.PayloadKeyFile
	}
	if a.WeaviateKey != "" {
		values[service.LocalWeaviateKey] = a.WeaviateKey
	}
	if a.EmbedderDir != "" {
		values["embedder"], values["embedder-dir"] = llm.ProviderLocal, a.EmbedderDir
	}
	return yaml.Marshal(values)
}

// workerConfig is what the environment says, with the addresses of the stack. Unless it says otherwise, the files of the
// memory stand in the stack's directory, so that no two stacks write the same.
func workerConfig(a stack.Addresses, dir string) (service.Config, error) {
	var cfg service.Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(flags)
	cfg.WorkerFlags(flags)
	if err := cfg.Load(flags, os.Getenv, ""); err != nil {
		return cfg, err
	}
	cfg.TemporalAddress, cfg.ClickHouseDSN, cfg.WeaviateURL = a.Temporal, a.ClickHouseDSN, "http://"+a.WeaviateHost
	cfg.EraserDSN = cmp.Or(cfg.EraserDSN, a.ClickHouseDSN)
	cfg.WeaviateAPIKey, cfg.PayloadKeyFile = a.WeaviateKey, cmp.Or(cfg.PayloadKeyFile, a.PayloadKeyFile)
	if a.EmbedderDir != "" {
		cfg.Embedder.Provider, cfg.Embedder.Dir, cfg.EmbedderByDefault = llm.ProviderLocal, a.EmbedderDir, false
	}
	if cfg.MemoryRoot == "" {
		cfg.MemoryRoot = filepath.Join(dir, "memory")
	}
	return cfg, nil
}
