package settings

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Effective is the value of a setting that a program works with, without secrets.
type Effective struct {
	Name string `json:"name"`
	// Value is empty if there is none. A list is separated as in PATH.
	Value string `json:"value"`
	// Source is a flag, a variable, a file, a local stack, or [SourceDefault].
	Source string `json:"source"`
	// Absent describes the default of a setting that has no value.
	Absent string `json:"-"`
}

// SourceDefault is the source of a value that was not given.
const SourceDefault = "default"

// Text is the value for people. Where there is none, it describes the default in parentheses.
func (e Effective) Text() string {
	if e.Value == "" {
		return "(" + cmp.Or(e.Absent, "none") + ")"
	}
	return e.Value
}

// Show returns the values of those settings that have a flag. Sources are those of [File.Fill].
func Show(f *pflag.FlagSet, list []Setting, sources map[string]string) []Effective {
	var out []Effective
	for _, s := range list {
		flag := f.Lookup(s.Name)
		if flag == nil {
			continue
		}
		values := []string{flag.Value.String()}
		if many, is := flag.Value.(pflag.SliceValue); is {
			values = many.GetSlice()
		}
		for i := range values {
			values[i] = Mask(values[i], s.Secret)
		}
		if sources[s.Name] == "" && s.Absent != "" && s.Default == nil && slices.Equal(values, []string{"0"}) {
			values = nil // 0 stands for a default of another place.
		}
		out = append(out, Effective{
			Name: s.Name, Value: strings.Join(values, string(os.PathListSeparator)), Source: cmp.Or(sources[s.Name], SourceDefault), Absent: plain(s.Absent),
		})
	}
	return out
}

// Masked replaces a secret.
const Masked = "***"

// Mask hides the password, the fragment and the values of the query of a URL, and all of its path too if the text is secret. Text that
// may hold a password and is no plain URL is hidden as a whole.
func Mask(text string, secret bool) string {
	scheme, rest, is := strings.Cut(text, "://")
	switch {
	case text == "":
		return ""
	case strings.Contains(scheme, ":") && strings.Contains(text, "@") || !is && secret:
		return Masked
	case !is:
		return maskQuery(text) // A URL without its scheme, or a path.
	}
	rest, _, _ = strings.Cut(rest, "#")
	if strings.Contains(text, "#") && strings.Contains(text, "@") || strings.LastIndexByte(rest, '@') > strings.IndexAny(rest+"/", "/?") {
		return scheme + "://" + Masked // A password that is not escaped may hold any of these signs.
	}
	out := scheme + "://"
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if name, password, _ := strings.Cut(rest[:at], ":"); password != "" {
			out += name + ":" // A name alone may be a token.
		}
		out, rest = out+Masked+"@", rest[at+1:]
	}
	if secret {
		return out + rest[:strings.IndexAny(rest+"/", "/?")] + "/" + Masked
	}
	return out + maskQuery(rest)
}

// maskQuery hides the values of the query of an address, and drops its fragment.
func maskQuery(text string) string {
	text, _, _ = strings.Cut(text, "#")
	address, query, _ := strings.Cut(text, "?")
	sign := "?"
	for pair := range strings.SplitSeq(query, "&") {
		if key, _, named := strings.Cut(pair, "="); named {
			address += sign + key + "=" + Masked
			sign = "&"
		}
	}
	return address
}
