package schema_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func TestVectorNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, tenant, collection string }{
		{"", "_", "Entry__"},
		{"default", "default", "Entry_default"},
		{"hash-v1-384", "hash-v1-384", "Entry_hash_2dv1_2d384"},
		{"My App", "_4dy_20_41pp", "Entry__4dy_20_41pp"},
		{"앱", "_ec_95_b1", "Entry__ec_95_b1"},
		{"a_b", "a_5fb", "Entry_a_5fb"},
		{schema.MessageIndex("hash-v1-384"), "messages_2fhash-v1-384", "Message_hash_2dv1_2d384"},
	} {
		require.Equal(t, tt.tenant, schema.VectorTenant(tt.text), tt.text)
		require.Equal(t, tt.collection, schema.VectorCollection(tt.text), tt.text)
	}
}

// Different projects never share a tenant, nor different versions a class, and Weaviate accepts every name, also on a
// file system that ignores case.
func TestVectorNamesAreInjective(t *testing.T) {
	t.Parallel()
	tenant := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	class := regexp.MustCompile(`^[A-Z][_0-9A-Za-z]{0,199}$`)
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-zA-Z_ -]{0,3}`),
		rapid.StringMatching(`(ab|_5f|__){20,60}[a-c]?`),
		rapid.Map(rapid.StringMatching(`[a-z_]{0,3}`), schema.MessageIndex),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if !tenant.MatchString(schema.VectorTenant(a)) || !class.MatchString(schema.VectorCollection(a)) {
			t.Fatalf("%q: bad names %q, %q", a, schema.VectorTenant(a), schema.VectorCollection(a))
		}
		if a != b && strings.EqualFold(schema.VectorTenant(a), schema.VectorTenant(b)) {
			t.Fatalf("%q and %q share the tenant %q", a, b, schema.VectorTenant(a))
		}
		if a != b && strings.EqualFold(schema.VectorCollection(a), schema.VectorCollection(b)) {
			t.Fatalf("%q and %q share the class %q", a, b, schema.VectorCollection(a))
		}
	})
}

// Generations of different collections never share a class, none is a collection, and each name contains its
// collection.
func TestVectorGenerations(t *testing.T) {
	t.Parallel()
	class := regexp.MustCompile(`^[A-Z][_0-9A-Za-z]{0,254}$`)
	version := rapid.OneOf(rapid.String(), rapid.StringMatching(`(_?g[0-9]?){1,3}`), rapid.StringMatching(`(ab|_5f|__|_g1){20,60}`),
		rapid.Map(rapid.StringMatching(`(_?g[0-9]?){1,3}`), schema.MessageIndex))
	rapid.Check(t, func(t *rapid.T) {
		a, b := schema.VectorCollection(version.Draw(t, "a")), schema.VectorCollection(version.Draw(t, "b"))
		n, m := rapid.IntRange(1, 1<<40).Draw(t, "n"), rapid.IntRange(1, 20).Draw(t, "m")
		first, second := schema.VectorGeneration(a, n), schema.VectorGeneration(b, m)
		if !class.MatchString(first) {
			t.Fatalf("%q is no class", first)
		}
		if strings.EqualFold(first, b) || strings.EqualFold(first, second) != (a == b && n == m) {
			t.Fatalf("%q, %q and %q are not told apart", first, second, b)
		}
		if collection, k := schema.SplitGeneration(first); collection != a || k != n {
			t.Fatalf("%q is the generation %d of %q", first, k, collection)
		}
		if collection, k := schema.SplitGeneration(b); collection != b || k != 0 {
			t.Fatalf("%q is the generation %d of %q", b, k, collection)
		}
	})
}

// A class with other settings has another description, and the name is not one of the settings.
func TestEntryClassTellsItsSettings(t *testing.T) {
	t.Parallel()
	a, b := schema.EntryClass("Entry_a"), schema.EntryClass("Entry_b")
	require.Equal(t, a.Description, b.Description)
	require.Regexp(t, `Settings [0-9a-f]{16}\.$`, a.Description)
}
