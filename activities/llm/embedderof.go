package llm

import (
	"context"
	"strconv"
	"strings"
)

// EmbedderOf returns the embedder of the version: the configured one if it has that version, one that needs no key, or
// another model of the configured provider. It makes no request. A version has letters, digits, dots and dashes only.
// If that hides the model's name, EmbedderOf knows only the provider's default.
func EmbedderOf(ctx context.Context, c EmbedderConfig, version string) (Embedder, error) {
	own, ownErr := NewEmbedder(ctx, c)
	if ownErr == nil && own.Version() == version {
		return own, nil
	}
	p, rest := providerOf(version)
	if p.Embedder == nil {
		return nil, configError("embedder", "version %q is of no provider that this program knows", version)
	}
	configured, err := find(Provider.embedder, c.Provider)
	if err != nil {
		return nil, err
	}
	if p.Name != configured.Name && p.KeyVariable != "" {
		return nil, configError("embedder", "version %q is of %s, which is not configured", version, p.Name)
	}
	other := EmbedderConfig{Provider: p.Name, Dir: c.Dir, BatchSize: c.BatchSize}
	if p.Name == configured.Name {
		other.APIKey, other.KeyVariable, other.BaseURL = c.APIKey, c.KeyVariable, c.BaseURL
	}
	if p.KeyVariable == "" { // It has one model, and perhaps one in the directory, whose versions are not made of names alone.
		e, err := ofVersion(ctx, other, version)
		if err != nil && other.Dir != "" {
			other.Dir = ""
			if own, ownErr := ofVersion(ctx, other, version); ownErr == nil {
				return own, nil
			}
		}
		return e, err
	}
	at := strings.LastIndexByte(rest, '-')
	if other.Dimensions, err = strconv.Atoi(rest[at+1:]); err != nil || at < 0 {
		return nil, configError("embedder", "version %q does not end in dimensions", version)
	}
	for _, other.Model = range []string{rest[:at], p.Embedder.Default} {
		e, err := ofVersion(ctx, other, version)
		if err == nil {
			return e, nil
		}
		if ownErr = err; slug(other.Model) == rest[:at] {
			break
		}
	}
	return nil, ownErr
}

// providerOf returns the provider of the version, and the rest of it after the provider's name.
func providerOf(version string) (p Provider, rest string) {
	name, rest, _ := strings.Cut(version, "-")
	for _, p := range providers {
		if p.embedder() && p.Name == name {
			return p, rest
		}
	}
	return Provider{}, rest
}

func ofVersion(ctx context.Context, c EmbedderConfig, version string) (Embedder, error) {
	e, err := NewEmbedder(ctx, c)
	if err != nil {
		return nil, err
	}
	if e.Version() != version {
		return nil, configError("embedder", "version %q is not %q, which this program has", version, e.Version())
	}
	return e, nil
}
