package stacktest

import (
	"maps"
	"os"
	"testing"

	"axiommind/deploy/local/stack"
)

var temporal, weaviate server

// Temporal returns the address of the Temporal dev server of this test binary,
// host:port, with the namespace "default". attributes are search attributes,
// name to type; those of the first call count.
func Temporal(t testing.TB, attributes ...map[string]string) string {
	t.Helper()
	if address := os.Getenv(EnvTemporal); address != "" {
		return address
	}
	opts := stack.Options{Temporal: true, SearchAttributes: map[string]string{}}
	for _, more := range attributes {
		maps.Copy(opts.SearchAttributes, more)
	}
	return temporal.get(t, "temporal", opts).Addresses().Temporal
}

// Weaviate returns the address of the REST interface of the Weaviate server of
// this test binary, host:port. It wants the key of [WeaviateKey]. Tests keep apart by class name or
// tenant.
func Weaviate(t testing.TB) string {
	t.Helper()
	if host := os.Getenv(EnvWeaviate); host != "" {
		return host
	}
	return weaviate.get(t, "weaviate", stack.Options{Weaviate: true}).Addresses().WeaviateHost
}

// WeaviateKey returns the API key that [Weaviate] wants.
func WeaviateKey(t testing.TB) string {
	t.Helper()
	if os.Getenv(EnvWeaviate) != "" {
		return os.Getenv(EnvWeaviateKey)
	}
	Weaviate(t)
	return weaviate.stack.Addresses().WeaviateKey
}
