package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/vector"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/settings"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// environment are variables of a program's environment.
type environment map[string]string

// with returns the environment with a change. An empty value takes a variable away.
func (e environment) with(change environment) environment {
	all := maps.Clone(e)
	maps.Copy(all, change)
	return all
}

// config is the configuration that a program reads from it.
func (e environment) config(t *testing.T) Config {
	t.Helper()
	var cfg Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(f)
	require.NoError(t, cfg.Load(f, func(name string) string { return e[name] }, ""))
	return cfg
}

// mistake is a wrong setting, with the expected message.
type mistake struct {
	change environment
	// server is the server's name in the message. The reason and the remedy follow it.
	server, reason, advice string
	// waits says that a server may come up that is reached.
	waits bool
}

// secret is in every key and password of these tests that is wrong.
const secret = "sesame77"

// check makes each mistake. The message names the server, the reason and the remedy, and no secret, and it comes at
// once.
func check(t *testing.T, env environment, mistakes map[string]mistake, secrets []string, connect func(Config, *slog.Logger) error) {
	t.Helper()
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := env.with(m.change).config(t)
			cfg.ConnectTimeout = 30 * time.Second
			if m.waits {
				cfg.ConnectTimeout = time.Second
			}
			var logs bytes.Buffer
			begun := time.Now()
			err := connect(cfg, slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
			require.ErrorContains(t, err, m.server)
			require.ErrorContains(t, err, m.reason)
			require.ErrorContains(t, err, m.advice)
			require.Equal(t, m.waits, logs.Len() > 0, "%s", &logs)
			for _, s := range append(secrets, secret) {
				require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), s)
				require.NotContains(t, logs.String(), s)
			}
			if !m.waits {
				require.Less(t, time.Since(begun), cfg.ConnectTimeout)
				require.True(t, clickhouse.Refused(err) || errors.Is(err, settings.ErrRefused))
			}
		})
	}
}

func TestTLSClickHouse(t *testing.T) {
	t.Parallel()
	plain, err := url.Parse(stacktest.MigratedDatabase(t))
	require.NoError(t, err)
	authority := stacktest.NewAuthority(t)
	front := stacktest.NewFront(t, authority, plain.Host, stacktest.FrontOptions{})
	password, _ := plain.User.Password()
	at := func(scheme, password, host string) environment {
		dsn := url.URL{Scheme: scheme, User: url.UserPassword(plain.User.Username(), password), Host: host, Path: plain.Path}
		return environment{"AXIOMMIND_CLICKHOUSE_DSN": dsn.String()}
	}
	env := environment{"AXIOMMIND_TLS_CA": authority.File}.with(at("https", password, front.Address))

	conn, err := ConnectClickHouse(t.Context(), env.config(t), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	log := projection.New(conn, eventlog.Options{})
	_, err = log.Append(t.Context(), "s", []schema.Event{
		{Type: "test", TS: time.Now(), Actor: "tester", DedupeKey: "k", Payload: json.RawMessage(`{"a":"b"}`)},
	})
	require.NoError(t, err)
	var read []string
	for e, err := range log.Stream(t.Context(), "s", eventlog.StreamOptions{}) {
		require.NoError(t, err)
		read = append(read, string(e.Payload))
	}
	require.Equal(t, []string{`{"a":"b"}`}, read)
	neighbor, err := conn.(clickhouse.Neighbor).Neighbor(t.Context(), strings.TrimPrefix(plain.Path, "/"))
	require.NoError(t, err, "a rebuild reaches the database beside it in the same way")
	require.NoError(t, neighbor.Close())
	for i, key := range front.Headers("X-ClickHouse-Key") {
		require.Equal(t, password, key)
		require.Equal(t, plain.User.Username(), front.Headers("X-ClickHouse-User")[i])
		require.Equal(t, "off", front.Headers("X-ClickHouse-SSL-Certificate-Auth")[i])
	}
	require.Greater(t, len(front.Headers("X-ClickHouse-Key")), 4)

	named := stacktest.NewFront(t, authority, plain.Host, stacktest.FrontOptions{Name: "clickhouse.example"})
	t.Cleanup(func() {
		require.Empty(t, named.Headers("X-ClickHouse-Key"), "a server that is not trusted is told nothing")
	})
	asks := stacktest.NewFront(t, authority, plain.Host, stacktest.FrontOptions{ClientCAs: authority.Pool})
	check(t, env, map[string]mistake{
		"another authority": {
			change: environment{"AXIOMMIND_TLS_CA": stacktest.NewAuthority(t).File},
			server: "clickhouse at https://" + front.Address, reason: "signed by unknown authority", advice: "by --tls-ca",
		},
		"no authority": {
			change: environment{"AXIOMMIND_TLS_CA": ""},
			server: "clickhouse at https://" + front.Address, reason: "signed by unknown authority", advice: "by --tls-ca",
		},
		"another name": {
			change: at("https", password, named.Address),
			server: "clickhouse at https://" + named.Address, reason: "127.0.0.1", advice: "a name in its certificate",
		},
		"wrong password": {
			change: at("https", secret, front.Address),
			server: "clickhouse at https://" + front.Address, reason: "AUTHENTICATION_FAILED", advice: "password",
		},
		"no password": {
			change: at("https", "", front.Address),
			server: "clickhouse at https://" + front.Address, reason: "REQUIRED_PASSWORD", advice: "password",
		},
		"TLS to a server without": {
			change: at("https", password, plain.Host),
			server: "clickhouse at https://" + plain.Host, reason: "gave HTTP response", advice: "write http://",
		},
		"no TLS to a server with": {
			change: at("http", password, front.Address),
			server: "clickhouse at http://" + front.Address, reason: "HTTP request to an HTTPS server", advice: "write https://",
		},
		"a certificate is wanted": {
			change: at("https", password, asks.Address),
			server: "clickhouse at https://" + asks.Address, reason: "certificate required", advice: "only Temporal is shown one",
		},
	}, []string{password}, func(cfg Config, logger *slog.Logger) error {
		_, err := ConnectClickHouse(t.Context(), cfg, logger)
		return err
	})
}

func TestTLSWeaviate(t *testing.T) {
	t.Parallel()
	authority := stacktest.NewAuthority(t)
	plain, key := stacktest.Weaviate(t), stacktest.WeaviateKey(t)
	front := stacktest.NewFront(t, authority, plain, stacktest.FrontOptions{})
	env := environment{"AXIOMMIND_WEAVIATE_URL": "https://" + front.Address, "WEAVIATE_API_KEY": key, "AXIOMMIND_TLS_CA": authority.File}

	c, err := connectWeaviate(t.Context(), env.config(t), weaviate.Open)
	require.NoError(t, err)
	collection := schema.VectorCollection(fmt.Sprintf("tls-%d", time.Now().UnixNano()))
	_, err = c.EnsureCollection(t.Context(), collection)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.DeleteCollection(t.Context(), collection)) }()
	require.NoError(t, c.EnsureTenant(t.Context(), collection, "p"))
	failed, err := c.Put(t.Context(), collection, "p", []vector.Object{
		{ID: schema.DerivedID("1"), Vector: []float32{1, 0}, Properties: map[string]any{
			schema.PropertyItemKind: schema.ItemEntry, schema.PropertyItemID: "1", schema.PropertyTerms: "tunnel", schema.PropertyUser: "u",
		}},
	})
	require.NoError(t, err)
	require.Equal(t, []error{nil}, failed)
	found, err := c.Hybrid(t.Context(), vector.HybridQuery{
		Collection: collection, Project: "p", Text: "tunnel", Vector: []float32{1, 0}, Limit: 5,
		Filter: vector.Filter{Kinds: []string{schema.ItemEntry}, User: "u"},
	})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "1", found[0].ItemID)
	for _, sent := range front.Headers("Authorization") {
		require.Equal(t, "Bearer "+key, sent)
	}

	named := stacktest.NewFront(t, authority, plain, stacktest.FrontOptions{Name: "weaviate.example"})
	t.Cleanup(func() {
		require.Empty(t, named.Headers("Authorization"), "a server that is not trusted is told nothing")
	})
	asks := stacktest.NewFront(t, authority, plain, stacktest.FrontOptions{ClientCAs: authority.Pool})
	check(t, env, map[string]mistake{
		"another authority": {
			change: environment{"AXIOMMIND_TLS_CA": stacktest.NewAuthority(t).File},
			server: fmt.Sprintf("weaviate at %q", front.Address), reason: "signed by unknown authority", advice: "by --tls-ca",
		},
		"another name": {
			change: environment{"AXIOMMIND_WEAVIATE_URL": "https://" + named.Address},
			server: fmt.Sprintf("weaviate at %q", named.Address), reason: "127.0.0.1", advice: "a name in its certificate",
		},
		"wrong key": {
			change: environment{"WEAVIATE_API_KEY": secret},
			server: fmt.Sprintf("weaviate at %q", front.Address), reason: "status 401", advice: "by WEAVIATE_API_KEY",
		},
		"no key": {
			change: environment{"WEAVIATE_API_KEY": ""},
			server: fmt.Sprintf("weaviate at %q", front.Address), reason: "status 401", advice: "by WEAVIATE_API_KEY",
		},
		"TLS to a server without": {
			change: environment{"AXIOMMIND_WEAVIATE_URL": "https://" + plain},
			server: fmt.Sprintf("weaviate at %q", plain), reason: "gave HTTP response", advice: "write http://",
		},
		"no TLS to a server with": {
			change: environment{"AXIOMMIND_WEAVIATE_URL": "http://" + front.Address},
			server: fmt.Sprintf("weaviate at %q", front.Address), reason: "HTTP request to an HTTPS server", advice: "write https://",
		},
		"a certificate is wanted": {
			change: environment{"AXIOMMIND_WEAVIATE_URL": "https://" + asks.Address},
			server: fmt.Sprintf("weaviate at %q", asks.Address), reason: "certificate required", advice: "only Temporal is shown one",
		},
	}, []string{key}, func(cfg Config, _ *slog.Logger) error {
		_, err := ConnectWeaviate(t.Context(), cfg)
		return err
	})
}

// Temporal's development server speaks no TLS and takes any key, so that the front asks for both.
func TestTLSTemporal(t *testing.T) {
	t.Parallel()
	authority, stranger := stacktest.NewAuthority(t), stacktest.NewAuthority(t)
	plain := stacktest.Temporal(t)
	const key = "open-" + secret
	front := stacktest.NewFront(t, authority, plain, stacktest.FrontOptions{
		GRPC: true, Name: "temporal.example", ClientCAs: authority.Pool, Key: key,
	})
	cert, certKey := authority.Issue(t, "client.example")
	env := environment{
		"AXIOMMIND_TEMPORAL_ADDRESS": front.Address, "TEMPORAL_API_KEY": key, "AXIOMMIND_TLS_CA": authority.File,
		"AXIOMMIND_TEMPORAL_TLS_CERT": cert, "AXIOMMIND_TEMPORAL_TLS_KEY": certKey, "AXIOMMIND_TEMPORAL_TLS_SERVER_NAME": "temporal.example",
	}
	c, err := ConnectTemporal(t.Context(), env.config(t), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer c.Close()
	id := fmt.Sprintf("tls-%d", time.Now().UnixNano())
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "nobody"}, "nothing")
	require.NoError(t, err)
	got, err := c.DescribeWorkflowExecution(t.Context(), id, run.GetRunID())
	require.NoError(t, err)
	require.Equal(t, "nothing", got.GetWorkflowExecutionInfo().GetType().GetName())
	require.NoError(t, c.TerminateWorkflow(t.Context(), id, "", "the test ends"))
	for i, sent := range front.Headers("Authorization") {
		require.Equal(t, "Bearer "+key, sent)
		require.Equal(t, "client.example", front.Clients()[i])
	}

	untrusted := stacktest.NewFront(t, stranger, plain, stacktest.FrontOptions{GRPC: true, Name: "temporal.example"})
	t.Cleanup(func() {
		require.Empty(t, untrusted.Headers("Authorization"), "a server that is not trusted is told nothing")
	})
	strange, strangeKey := stranger.Issue(t, "client.example")
	noTLS := environment{
		"TEMPORAL_API_KEY": "", "AXIOMMIND_TEMPORAL_TLS_CERT": "", "AXIOMMIND_TEMPORAL_TLS_KEY": "", "AXIOMMIND_TEMPORAL_TLS_SERVER_NAME": "",
	}
	check(t, env, map[string]mistake{
		"another authority": {
			change: environment{"AXIOMMIND_TEMPORAL_ADDRESS": untrusted.Address},
			server: "temporal at " + untrusted.Address, reason: "signed by unknown authority", advice: "by --tls-ca",
		},
		"another name": {
			change: environment{"AXIOMMIND_TEMPORAL_TLS_SERVER_NAME": "other.example"},
			server: "temporal at " + front.Address, reason: "not other.example", advice: "by --temporal-tls-server-name",
		},
		"the name is the address": {
			change: environment{"AXIOMMIND_TEMPORAL_TLS_SERVER_NAME": ""},
			server: "temporal at " + front.Address, reason: "127.0.0.1", advice: "by --temporal-tls-server-name",
		},
		"wrong key": {
			change: environment{"TEMPORAL_API_KEY": secret},
			server: "temporal at " + front.Address, reason: "401", advice: "by TEMPORAL_API_KEY",
		},
		"no key": {
			change: environment{"TEMPORAL_API_KEY": ""},
			server: "temporal at " + front.Address, reason: "401", advice: "by TEMPORAL_API_KEY",
		},
		"TLS to a server without": {
			change: environment{"AXIOMMIND_TEMPORAL_ADDRESS": plain},
			server: "temporal at " + plain, reason: "does not look like a TLS handshake", advice: "leave out --temporal-tls",
		},
		"no TLS to a server with": {
			change: noTLS,
			server: "temporal at " + front.Address, reason: "", advice: "set --temporal-tls", waits: true,
		},
	}, nil, func(cfg Config, logger *slog.Logger) error {
		_, err := ConnectTemporal(t.Context(), cfg, logger)
		return err
	})
	// The refusal of a certificate arrives after the handshake, with the first answer or with a connection that is gone.
	for name, change := range map[string]environment{
		"no certificate":        {"AXIOMMIND_TEMPORAL_TLS_CERT": "", "AXIOMMIND_TEMPORAL_TLS_KEY": ""},
		"a certificate unknown": {"AXIOMMIND_TEMPORAL_TLS_CERT": strange, "AXIOMMIND_TEMPORAL_TLS_KEY": strangeKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := env.with(change).config(t)
			cfg.ConnectTimeout = time.Second
			var logs bytes.Buffer
			_, err := ConnectTemporal(t.Context(), cfg, slog.New(slog.NewTextHandler(&logs, nil)))
			require.ErrorContains(t, err, "temporal at "+front.Address)
			require.ErrorContains(t, err, "give it by --temporal-tls-cert and --temporal-tls-key")
			require.NotContains(t, fmt.Sprintf("%+v %s", err, &logs), secret)
		})
	}
}
