package format

import (
	"strings"

	"github.com/tidwall/gjson"
)

// companion is a file that lies beside transcripts and is none.
type companion struct {
	what string
	// isFile tells it by its name, in lower case and without directories; isRecord by a JSON value of it.
	isFile   func(name string) bool
	isRecord func(rec gjson.Result) bool
}

const stateOfSession = "the state of a session that has its own file"

// commonCompanions lie beside the transcripts of any harness.
var commonCompanions = []companion{
	{what: "a licence", isFile: hasStem("license", "licence", "copying", "notice")},
	{what: "a description", isFile: func(name string) bool {
		return hasStem("readme")(name) || hasStem("source")(name) && strings.HasSuffix(name, ".txt")
	}},
	{what: "a registry", isRecord: hasFields("schema_version", "harnesses")},
	{what: "a package description", isRecord: hasFields("name", "version", "dependencies")},
	{what: "a package description", isRecord: hasFields("name", "version", "scripts")},
	{what: "settings", isRecord: hasFields("mcpServers")},
}

func companions() []companion {
	all := commonCompanions
	for _, f := range registry {
		all = append(all[:len(all):len(all)], f.beside...)
	}
	return all
}

// companionFile says what a file is whose name alone shows that it is no transcript; empty for any other.
func companionFile(base string) string {
	name := strings.ToLower(base)
	for _, c := range companions() {
		if c.isFile != nil && c.isFile(name) {
			return c.what
		}
	}
	return ""
}

// companionRecord says what a JSON value is that shows that its file is no transcript; empty for any other.
func companionRecord(rec gjson.Result) string {
	for _, c := range companions() {
		if c.isRecord != nil && c.isRecord(rec) {
			return c.what
		}
	}
	return ""
}

func hasFields(paths ...string) func(rec gjson.Result) bool {
	return func(rec gjson.Result) bool {
		for _, p := range paths {
			if !rec.Get(p).Exists() {
				return false
			}
		}
		return true
	}
}

// hasStem tells a file by its name up to the first dot.
func hasStem(stems ...string) func(name string) bool {
	return func(name string) bool {
		stem, _, _ := strings.Cut(name, ".")
		for _, s := range stems {
			if stem == s {
				return true
			}
		}
		return false
	}
}
