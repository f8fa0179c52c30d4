package install

import (
	"os"
	"path/filepath"
	"time"
)

// Part is a component that a stack needs.
type Part struct {
	// Name is the name that [Progress] receives.
	Name string
	// Work describes how the part is obtained.
	Work string
	// Needs is how long it takes on two cores while the other parts are made, or 0 if it is in the cache.
	Needs time.Duration
}

// Plan returns the parts, the longest first. bin is the directory of [Cache.Programs].
func (c Cache) Plan(bin string) []Part {
	parts := []Part{
		{"temporal", TemporalVersion + ", built from source", 5 * time.Minute},
		{"clickhouse", "its engine from npm, and its server, built", 5 * time.Minute},
		{"programs", "worker and starter, built from source", 4 * time.Minute},
		{"weaviate", WeaviateVersion + ", built from source", 2 * time.Minute},
		{"embedder", "a model and ONNX Runtime, 119 MB from PyPI", 25 * time.Second},
	}
	in := map[string]bool{"embedder": c.has(embedderDir) && c.has(runtimeDir), "programs": exists(filepath.Join(bin, "starter"))}
	if root, err := moduleRoot(); err == nil {
		for _, t := range []tool{temporal, weaviate} {
			if _, _, key, err := t.read(root); err == nil {
				in[t.name] = c.has(key)
			}
		}
		if key, err := serverKey(root); err == nil {
			in["clickhouse"] = c.has(key) && c.has(libraryKey())
		}
	}
	for i, p := range parts {
		if in[p.Name] {
			parts[i].Needs = 0
		}
	}
	return parts
}

func (c Cache) has(key string) bool { return exists(filepath.Join(c.Dir, key)) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
