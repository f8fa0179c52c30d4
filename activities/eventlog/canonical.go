package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical returns the RFC 8785 form of JSON. It refuses integers that an IEEE double cannot represent exactly,
// because this form would change their value.
func canonical(raw []byte) ([]byte, error) {
	out := jsontext.Value(bytes.Clone(raw)) // Canonicalize may write to the bytes.
	formErr := out.Canonicalize()
	switch {
	case formErr == nil:
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, errors.New("is empty")
	case !utf8.Valid(raw):
		return nil, errors.New("is not valid UTF-8")
	case !json.Valid(raw):
		return nil, errors.New("is not JSON")
	}
	if err := checkNumbers(raw); err != nil {
		return nil, err
	}
	if formErr != nil {
		return nil, fmt.Errorf("has no canonical form: %w", formErr)
	}
	return out, nil
}

// checkNumbers returns an error for the first number of valid JSON that no double represents: an integer that would be
// rounded, or a number out of range. Canonicalize changes both.
func checkNumbers(raw []byte) error {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i = stringEnd(raw, i)
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(raw) && bytes.IndexByte([]byte("0123456789+-.eE"), raw[end]) >= 0 {
				end++
			}
			if err := checkNumber(raw[i:end]); err != nil {
				return err
			}
			i = end
		default:
			i++
		}
	}
	return nil
}

func checkNumber(n []byte) error {
	if bytes.ContainsAny(n, ".eE") {
		if _, err := strconv.ParseFloat(string(n), 64); err != nil {
			return fmt.Errorf("has no canonical form: %w", err)
		}
		return nil
	}
	if len(n) > 15 && !exact(string(n)) {
		return fmt.Errorf("holds the integer %s, which JSON readers round: write it as a string", n[:min(len(n), 40)])
	}
	return nil
}

// stringEnd returns the index after the end of the string that begins at i in valid JSON.
func stringEnd(raw []byte, i int) int {
	for {
		i += 1 + bytes.IndexByte(raw[i+1:], '"')
		if escapes := len(raw[:i]) - len(bytes.TrimRight(raw[:i], `\`)); escapes%2 == 0 {
			return i + 1
		}
	}
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

func checksum(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}
