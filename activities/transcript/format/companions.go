package format

import (
	"strings"

	"github.com/tidwall/gjson"
)

// companion is a kind of file that lies next to transcripts and is no transcript.
type companion struct {
	description string
	// isFile recognizes it by its name, in lower case and without directories; isRecord by a JSON value in it.
	isFile   func(name string) bool
	isRecord func(rec gjson.Result) bool
}

const stateOfSession = "the state of a session that has its own file"

// commonCompanions lie next to the transcripts of any harness.
var commonCompanions = []companion{
	{description: "a licence", isFile: hasStem("license", "licence", "copying", "notice")},
	{description: "a description", isFile: func(name string) bool {
		return hasStem("readme")(name) || hasStem("source")(name) && strings.HasSuffix(name, ".txt")
	}},
	{description: "a registry", isRecord: hasFields("schema_version", "harnesses")},
	{description: "a package description", isRecord: hasFields("name", "version", "dependencies")},
	{description: "a package description", isRecord: hasFields("name", "version", "scripts")},
	{description: "settings", isRecord: hasFields("mcpServers")},
}

func companions() []companion {
	all := commonCompanions
	for _, f := range registry {
		all = append(all[:len(all):len(all)], f.companions...)
	}
	return all
}

// companionFile describes a file whose name alone shows that it is no transcript. It returns "" for any other.
func companionFile(base string) string {
	name := strings.ToLower(base)
	for _, c := range companions() {
		if c.isFile != nil && c.isFile(name) {
			return c.description
		}
	}
	return ""
}

// companionRecord describes a file with a JSON value that no transcript has. It returns "" for any other.
func companionRecord(rec gjson.Result) string {
	for _, c := range companions() {
		if c.isRecord != nil && c.isRecord(rec) {
			return c.description
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

// hasStem recognizes a file by its name up to the first dot.
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
