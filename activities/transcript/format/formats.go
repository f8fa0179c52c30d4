package format

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Format is one way in which sessions are written: a harness's own, or a common one. Each has a file of its
// own, which holds all that is particular to it.
type Format struct {
	// Name is the value of --format and of a session's format: lower case, with hyphens. The file of the format has the
	// same name, with underscores.
	Name string
	// Title is the name of the harness or product, and Files says which of its files are read.
	Title, Files string
	// Reference says where the format is documented: a specification, or code that writes or reads it.
	Reference string
	// Dirs are patterns, as of [path.Match], of the files and directories under a home that hold the sessions. They are
	// as narrow as possible, because credentials lie next to the sessions. It is nowhere if no agent keeps the format.
	Dirs []string

	// isRecord recognizes a JSON value of the format, and reader makes the function that reads the values of one
	// source. With lists, a value may be an array.
	isRecord func(rec gjson.Result) bool
	reader   func() recordFunc
	lists    bool
	// family names formats with similar JSON. Parts of the path distinguish them, in lower case; the format without any
	// is the default.
	family    string
	pathHints []string
	// messageFiles are names of files that hold plain messages of this format.
	messageFiles []string

	// isText recognizes a source that is not JSON by its first bytes, and readText reads it.
	isText   func(head []byte) bool
	readText func(s *source, b *builder) error

	// tables recognize and read a SQLite database.
	tables tables

	// injects are the passages that the harness puts into a user's message.
	injects injections
	// tools are the tools by which the agent says something.
	tools tools
	// companions are the files that the harness keeps next to its transcripts.
	companions []companion
	// sameNames are names of files, without their extensions, that are the same for every session: the
	// directory above names the session, unless it is one of sameDirs.
	sameNames, sameDirs []string
	// migrated says that the source is memory of another system. It is read only where the format is named: memory is taken in
	// from another system by a person's decision, and notes look like any other Markdown.
	migrated bool
	// anonymous says that the session's id does not come from the name of the source.
	anonymous bool
}

// registry lists the formats. The order decides between those that match the same source: the more
// specific come first.
var registry = []Format{
	claudeCode, codex, codexHistory, chatGPT, qwen, copilot, deepSeek, kimi, grok, antigravity, gemini,
	openClaw, omp, pi, cursor, goose, roo, cline, messages,
	openCode, hermes, zed, anyDatabase,
	specStory, aider, plainText,
	mem0, zep, claudeMem, engram, basicMemory, okf,
}

// nowhere is where an export, or a text, lies.
var nowhere = []string{}

// All lists the readable formats, in the order of detection.
func All() []Format { return slices.Clone(registry) }

// Migrated lists the names of the formats that hold memory of other systems.
func Migrated() (names []string) {
	for _, f := range registry {
		if f.migrated {
			names = append(names, f.Name)
		}
	}
	return names
}

func formatHint() string {
	names := make([]string, len(registry))
	for i, f := range registry {
		names[i] = f.Name
	}
	return "formats are " + strings.Join(names, ", ") + "; use --format"
}

// stateless makes the reader of a format whose values are read one by one.
func stateless(read recordFunc) func() recordFunc {
	return func() recordFunc { return read }
}

func (f *Format) parse(s *source, b *builder) error {
	switch {
	case isDatabase(s.head), f.reader == nil && f.readText == nil, f.readText == nil && isDump(s.head):
		return readDatabase(s, b)
	case f.readText != nil:
		return f.readText(s, b)
	case f.lists:
		return s.values(b, f.reader())
	}
	return s.objects(b, f.reader())
}

// pickByPath returns the first of the formats found, or the one of its family that the path hints at.
func pickByPath(found []*Format, name string) *Format {
	name = strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	best := found[0]
	for _, f := range found {
		if f.family != best.family || f.family == "" {
			continue
		}
		for _, h := range f.pathHints {
			if strings.Contains(name, h) {
				return f
			}
		}
		if len(f.pathHints) == 0 {
			best = f
		}
	}
	return best
}
