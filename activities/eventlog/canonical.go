package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// canonical returns the RFC 8785 form of JSON. It refuses integers that an IEEE double cannot represent exactly,
// because this form would change their value.
func canonical(raw []byte) ([]byte, error) {
	if out, ok := plainCanonical(raw); ok {
		return out, nil
	}
	return generalCanonical(raw)
}

// generalCanonical is canonical for any JSON.
func generalCanonical(raw []byte) ([]byte, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("is empty")
	}
	if !utf8.Valid(raw) {
		return nil, errors.New("is not valid UTF-8")
	}
	if !json.Valid(raw) {
		return nil, errors.New("is not JSON")
	}
	if n := unsafeInteger(raw); n != "" {
		return nil, fmt.Errorf("holds the integer %s, which JSON readers round: write it as a string", n)
	}
	out, err := jcs.Transform(raw)
	if err != nil {
		return nil, fmt.Errorf("has no canonical form: %w", err)
	}
	return out, nil
}

// unsafeInteger returns the first integer in valid JSON that a double cannot represent exactly.
func unsafeInteger(raw []byte) string {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i = stringEnd(raw, i)
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(raw) && bytes.IndexByte([]byte("0123456789+-.eE"), raw[end]) >= 0 {
				end++
			}
			if n := raw[i:end]; len(n) > 15 && !bytes.ContainsAny(n, ".eE") && !exact(string(n)) {
				return string(n[:min(len(n), 40)])
			}
			i = end
		default:
			i++
		}
	}
	return ""
}

// stringEnd returns the index after the end of the string that begins at i in valid JSON.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func exact(integer string) bool {
	f, err := strconv.ParseFloat(integer, 64)
	if err != nil {
		return false
	}
	want, ok := new(big.Int).SetString(integer, 10)
	if !ok {
		return false
	}
	got, _ := new(big.Float).SetFloat64(f).Int(nil)
	return got.Cmp(want) == 0
}
