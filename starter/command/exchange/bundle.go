package exchange

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"axiommind/schema"
	"axiommind/starter/command"
)

// okfVersion is the version of the Open Knowledge Format that an export targets.
const okfVersion = "0.2"

// humanActor is the prefix of the actors that are persons.
const humanActor = "human:"

// concept is a document of a bundle.
type concept struct {
	// dir is its directory, and file its path in the bundle, which [bundle.add] makes of the id.
	dir, id, file string
	head          conceptHead
	body          string
}

// conceptHead is the YAML head of a concept. The fields from Memory on are extensions, which other consumers keep.
type conceptHead struct {
	Type        string       `yaml:"type"`
	Title       string       `yaml:"title,omitempty"`
	Description string       `yaml:"description,omitempty"`
	Tags        []string     `yaml:"tags,omitempty,flow"`
	Sources     []source     `yaml:"sources,omitempty"`
	Generated   *actorAct    `yaml:"generated,omitempty,flow"`
	Verified    []actorAct   `yaml:"verified,omitempty"`
	Status      string       `yaml:"status,omitempty"`
	StaleAfter  day          `yaml:"stale_after,omitempty"`
	Memory      string       `yaml:"memory,omitempty"`
	Session     string       `yaml:"session,omitempty"`
	AxiomMind   *ownFields   `yaml:"axiommind,omitempty"`
	Messages    []messageOwn `yaml:"messages,omitempty"`
}

// source is a material that a concept derives from. Message, Span and Quote name the exact words.
type source struct {
	ID       string `yaml:"id"`
	Resource string `yaml:"resource"`
	Title    string `yaml:"title,omitempty"`
	Author   string `yaml:"author,omitempty"`
	Session  string `yaml:"session,omitempty"`
	Message  *int   `yaml:"message,omitempty"`
	// Span is the half-open range of bytes in the message, and Text the words there.
	Span  []int  `yaml:"span,omitempty,flow"`
	Text  string `yaml:"text,omitempty"`
	Quote string `yaml:"quote,omitempty"`
	Trust string `yaml:"trust,omitempty"`
	// Proven is true if the words are whole sentences of a speaker.
	Proven bool `yaml:"proven,omitempty"`
}

// actorAct is an act of an actor: human:NAME, process:NAME, or PRODUCER/VERSION.
type actorAct struct {
	By string    `yaml:"by"`
	At time.Time `yaml:"at,omitempty"`
}

// ownFields are the fields of an item that the format has no place for.
type ownFields struct {
	ID           string   `yaml:"id,omitempty"`
	Project      string   `yaml:"project,omitempty"`
	User         string   `yaml:"user,omitempty"`
	Agent        string   `yaml:"agent,omitempty"`
	Key          string   `yaml:"key,omitempty"`
	Stage        string   `yaml:"stage,omitempty"`
	Status       string   `yaml:"status,omitempty"`
	Ended        string   `yaml:"ended,omitempty"`
	SupersededBy string   `yaml:"superseded_by,omitempty"`
	Corrects     string   `yaml:"corrects,omitempty"`
	Category     string   `yaml:"category,omitempty"`
	Section      string   `yaml:"section,omitempty"`
	Confidence   *float64 `yaml:"confidence,omitempty"`
	SourceError  string   `yaml:"source_error,omitempty"`
	Priority     string   `yaml:"priority,omitempty"`
	Blockers     []string `yaml:"blockers,omitempty"`
}

// messageOwn describes a message of a session, whose text is a block of the body.
type messageOwn struct {
	Role   string    `yaml:"role"`
	Kind   string    `yaml:"kind"`
	Author string    `yaml:"author,omitempty"`
	Tool   string    `yaml:"tool,omitempty"`
	CallID string    `yaml:"call_id,omitempty"`
	ID     string    `yaml:"id,omitempty"`
	At     time.Time `yaml:"at,omitempty"`
}

// day is a date, which YAML shows without quotes.
type day string

// MarshalYAML implements [yaml.Marshaler].
func (d day) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!timestamp", Value: string(d)}, nil
}

// IsZero leaves an empty date out.
func (d day) IsZero() bool { return d == "" }

func dayOf(t time.Time) day {
	if t.IsZero() {
		return ""
	}
	return day(t.UTC().Format(time.DateOnly))
}

// bundle writes a directory of concepts.
type bundle struct {
	dir   string
	files map[string]bool
	// listed are the concepts of each directory: links and descriptions.
	listed map[string][]string
	// days counts the concepts by the date of their content.
	days  map[string]int
	total int
}

func newBundle(dir string) *bundle {
	return &bundle{dir: dir, files: map[string]bool{}, listed: map[string][]string{}, days: map[string]int{}}
}

// fileOf returns the path of a concept in the bundle: readable in every alphabet, and safe for every file system.
func (b *bundle) fileOf(dir, title, id string) string {
	file := path.Join(dir, slug(title)+"-"+schema.HashParts(dir, id)[:12]+".md")
	return strings.TrimPrefix(file, "/")
}

// maxSlug bounds the readable part of a file's name, in bytes.
const maxSlug = 60

// slug returns the letters, marks and digits of a text, in lower case, with hyphens in place of the rest.
func slug(text string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || r == utf8.RuneError {
			r = '-'
		}
		if out.Len()+utf8.RuneLen(r) > maxSlug {
			break
		}
		if r != '-' || out.Len() > 0 && !strings.HasSuffix(out.String(), "-") {
			out.WriteRune(r)
		}
	}
	if s := strings.Trim(out.String(), "-"); s != "" {
		return s
	}
	return "untitled"
}

// add writes a concept.
func (b *bundle) add(c concept) error {
	c.file = b.fileOf(c.dir, c.head.Title, c.id)
	if b.files[c.file] {
		return fmt.Errorf("two concepts have the id %q in %q", c.id, c.dir)
	}
	b.files[c.file] = true
	var out strings.Builder
	out.WriteString("---\n")
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(c.head); err != nil {
		return fmt.Errorf("write the head of %q: %w", c.file, err)
	}
	out.WriteString("---\n\n" + c.body)
	if err := b.write(c.file, out.String()); err != nil {
		return err
	}
	line := "* [" + linkText(c.head.Title) + "](" + path.Base(c.file) + ")"
	if c.head.Description != "" {
		line += " - " + linkText(c.head.Description)
	}
	b.listed[c.dir] = append(b.listed[c.dir], line)
	b.total++
	if c.head.Generated != nil && !c.head.Generated.At.IsZero() {
		b.days[string(dayOf(c.head.Generated.At))]++
	}
	return nil
}

// linkText returns a text for a link or a list: one line, without marks of Markdown that would end it.
func linkText(text string) string {
	return strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "<", "&lt;").Replace(command.OneLine(text, 200))
}

func (b *bundle) write(file, text string) error {
	name := filepath.Join(b.dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return command.BadUsage(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return command.BadUsage(err)
	}
	return nil
}

// finish writes the listings and the log.
func (b *bundle) finish(s Scope, at time.Time) error {
	var root strings.Builder
	fmt.Fprintf(&root, "---\nokf_version: %q\nconcepts: %d\n---\n\n# %s\n\n", okfVersion, b.total, linkText("Memory of "+s.String()))
	for _, dir := range slices.Sorted(maps.Keys(b.listed)) {
		lines := b.listed[dir]
		slices.Sort(lines)
		fmt.Fprintf(&root, "* [%s](%s/) - %s\n", dir, dir, command.Plural(len(lines), "concept", "concepts"))
		if err := b.write(path.Join(dir, "index.md"), "# "+dir+"\n\n"+strings.Join(lines, "\n")+"\n"); err != nil {
			return err
		}
	}
	if err := b.write("index.md", root.String()); err != nil {
		return err
	}
	var log strings.Builder
	fmt.Fprintf(&log, "# Update Log\n\n## %s\n* **Export**: %s of %s.\n", dayOf(at), command.Plural(b.total, "concept", "concepts"), linkText(s.String()))
	for _, date := range slices.Backward(slices.Sorted(maps.Keys(b.days))) {
		if date != string(dayOf(at)) {
			fmt.Fprintf(&log, "\n## %s\n* **Creation**: %s.\n", date, command.Plural(b.days[date], "concept", "concepts"))
		}
	}
	return b.write("log.md", log.String())
}
