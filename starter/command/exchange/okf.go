package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"axiommind/activities/fact"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
	"axiommind/starter/command"
	commandfacts "axiommind/starter/command/facts"
	"axiommind/starter/command/feed"
)

// maxConcept bounds a concept whose head is read, in bytes.
const maxConcept = 512 << 20

// group is the part of a bundle that belongs to one scope.
type group struct {
	items []fact.Item
	files []string
}

// importBundle imports a bundle, scope by scope: facts and the profile by their writer, and all other concepts as sessions.
func importBundle(ctx context.Context, a *command.App, dir string, flags schema.Scope, dry bool) error {
	heads, err := readBundle(dir)
	if err != nil {
		return err
	}
	owners, err := ownersOf(heads, flags)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(a.ErrOut, format+"\n", args...) }
	if users := slices.Collect(maps.Keys(owners.found[1])); len(users) == 1 && flags.User != "" && flags.User != users[0] {
		say("the words of user %q become those of user %q", users[0], flags.User)
	}
	groups, left, err := owners.groups(heads)
	if err != nil {
		return err
	}
	if left > 0 {
		say("left out %s: of other owners, proven by sessions of the bundle, or tasks and decision records", command.Plural(left, "concept", "concepts"))
	}
	for _, scope := range slices.SortedFunc(maps.Keys(groups), func(a, b schema.Scope) int { return strings.Compare(fmt.Sprintf("%q", a), fmt.Sprintf("%q", b)) }) {
		g := groups[scope]
		if dry {
			say("nothing was imported; it would be, for %s: %s, %s as sessions", nameScope(scope),
				command.Plural(len(g.items), "fact or section", "facts and sections"), command.Plural(len(g.files), "concept", "concepts"))
			continue
		}
		if err := g.importFacts(ctx, a, scope, say); err != nil {
			return err
		}
		if len(g.files) == 0 {
			continue
		}
		if err := g.importSessions(ctx, a, dir, scope, len(g.files) == len(heads)-facts(heads)); err != nil {
			return fmt.Errorf("import the sessions of %s: %w", nameScope(scope), err)
		}
	}
	return nil
}

func nameScope(s schema.Scope) string {
	text := fmt.Sprintf("project %q, user %q", s.Project, s.User)
	if s.Agent != "" {
		text += fmt.Sprintf(", agent %q", s.Agent)
	}
	return text
}

// facts counts the concepts that are part of a user's memory.
func facts(heads map[string]concept) int {
	return command.Count(slices.Collect(maps.Values(heads)), func(c concept) bool { return c.head.Memory != "" })
}

func (g *group) importFacts(ctx context.Context, a *command.App, scope schema.Scope, say func(string, ...any)) error {
	if len(g.items) == 0 {
		return nil
	}
	r, err := commandfacts.Import(ctx, a, fact.Command{User: scope.User, Agent: scope.Agent, Project: scope.Project, Reason: "import of a bundle"}, g.items)
	if err != nil {
		return err
	}
	skipped := 0
	for _, n := range r.Skipped {
		skipped += n
	}
	say("%s created, %s set, %d skipped", command.Plural(r.Created, "fact", "facts"), command.Plural(r.Sections, "section of the profile", "sections of the profile"), skipped)
	return nil
}

// importSessions processes the concepts of the group. If they are not the whole bundle, they are copied to a directory of
// their own, with the same paths in it.
func (g *group) importSessions(ctx context.Context, a *command.App, dir string, scope schema.Scope, whole bool) error {
	if whole {
		return feed.Migrate(ctx, a, "okf", dir, scope)
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	root := a.Cfg.State.Path("import-" + schema.HashParts(full, scope.Project, scope.User, scope.Agent)[:12])
	if root == "" {
		return errors.New("find a place for a part of the bundle: there is no home directory; set HOME or XDG_STATE_HOME")
	}
	defer func() { _ = os.RemoveAll(root) }()
	copied := filepath.Join(root, filepath.Base(full)) // Ids of sessions may derive from the directory's name.
	for _, file := range g.files {
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return command.BadUsage(err)
		}
		to := filepath.Join(copied, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			return err
		}
	}
	return feed.Migrate(ctx, a, "okf", copied, scope)
}

// readBundle reads the heads of all concepts, by their files. A file that is no concept is an error, before anything is imported.
func readBundle(dir string) (map[string]concept, error) {
	heads := map[string]concept{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(name, ".") && path != dir:
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || filepath.Ext(name) != ".md" || name == "index.md" || name == "log.md":
			return nil
		}
		if info, err := d.Info(); err == nil && info.Size() > maxConcept {
			return command.Usagef("%q has more than %d bytes; nothing was imported", path, maxConcept)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		c, err := readHead(path, data)
		if err != nil {
			return err
		}
		heads[path] = c
		return nil
	})
	switch {
	case err != nil && !command.IsUsage(err):
		return nil, command.BadUsage(err)
	case err == nil && len(heads) == 0:
		return nil, command.Usagef("%q holds neither %s nor a concept (Markdown with a YAML head)", dir, eventsFile)
	}
	if err == nil {
		err = complete(dir, len(heads))
	}
	return heads, err
}

// complete returns an error if the bundle has fewer concepts than its root index states.
func complete(dir string, concepts int) error {
	data, err := os.ReadFile(filepath.Join(dir, "index.md"))
	if err != nil {
		return nil //nolint:nilerr // Bundles of other producers may have no index.
	}
	var h struct {
		Concepts int `yaml:"concepts"`
	}
	if text, _, _, ok := format.SplitHead(data); ok && yaml.Unmarshal([]byte(text), &h) == nil && concepts < h.Concepts {
		return command.Usagef("%q has %d of the %d concepts that its index.md states: export again, or correct the number; nothing was imported", dir, concepts, h.Concepts)
	}
	return nil
}

// readHead reads the head of a concept and, of a fact or a section of the profile, its body. Fields that other producers use in
// another way are left out.
func readHead(path string, data []byte) (concept, error) {
	c := concept{file: path}
	text, body, _, ok := format.SplitHead(data)
	if !ok {
		return c, command.Usagef("%s:1: it has no YAML head between lines of ---, as each concept has: add one with a type, or move the file; nothing was imported", path)
	}
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		return c, command.Usagef("%s: its head is not valid: %w; nothing was imported", path, err)
	}
	if c.head.Type, _ = fields["type"].(string); c.head.Type == "" {
		return c, command.Usagef("%s:2: its head has no type, as each concept has: add one; nothing was imported", path)
	}
	var own struct {
		AxiomMind *ownFields `yaml:"axiommind"`
		Generated *actorAct  `yaml:"generated"`
	}
	if yaml.Unmarshal([]byte(text), &own) == nil {
		c.head.AxiomMind, c.head.Generated = own.AxiomMind, own.Generated
	}
	var made struct {
		Session string   `yaml:"session"`
		Sources []source `yaml:"sources"`
	}
	if c.head.AxiomMind != nil && yaml.Unmarshal([]byte(text), &made) == nil {
		c.head.Session, c.head.Sources = made.Session, made.Sources
	}
	if c.head.Memory, _ = fields["memory"].(string); c.head.Memory == format.OKFFact || c.head.Memory == format.OKFProfile {
		c.body = body
	} else if c.head.Memory != format.OKFCore {
		c.head.Memory = ""
	}
	return c, nil
}

// owners decides which scope each concept of a bundle belongs to.
type owners struct {
	flags schema.Scope
	found [3]map[string]bool
}

// names are the fields of a scope, with their flags.
var names = [3]struct {
	flag string
	of   func(*schema.Scope) *string
}{
	{"project", func(s *schema.Scope) *string { return &s.Project }},
	{"user", func(s *schema.Scope) *string { return &s.User }},
	{"agent", func(s *schema.Scope) *string { return &s.Agent }},
}

// scope returns the owner that the concept names.
func (c concept) scope() schema.Scope {
	if own := c.head.AxiomMind; own != nil {
		return schema.Scope{Project: own.Project, User: own.User, Agent: own.Agent}
	}
	return schema.Scope{}
}

// ownersOf reads the owners of the bundle. A flag selects one of several owners, or names another one for the bundle of a
// single owner, but never joins several.
func ownersOf(heads map[string]concept, flags schema.Scope) (owners, error) {
	o := owners{flags: flags}
	scopes := map[string]bool{}
	for i, n := range names {
		o.found[i] = map[string]bool{}
		for _, c := range heads {
			s := c.scope()
			if name := *n.of(&s); name != "" {
				o.found[i][name] = true
			}
			if s.User != "" {
				scopes[nameScope(s)] = true
			}
		}
	}
	for i, n := range names {
		if flag := *n.of(&o.flags); flag != "" && len(o.found[i]) > 1 && !o.found[i][flag] {
			return o, command.Usagef("--%s %q: the bundle has several %ss, which are not joined; select one of them with --project, --user and --agent:\n  %s\nnothing was imported",
				n.flag, flag, n.flag, strings.Join(slices.Sorted(maps.Keys(scopes)), "\n  "))
		}
	}
	return o, nil
}

// of returns the scope of a concept, or false if the flags select another one.
func (o owners) of(c concept) (schema.Scope, bool, error) {
	s := c.scope()
	for i, n := range names {
		name, flag := n.of(&s), *n.of(&o.flags)
		switch {
		case flag != "" && *name != "" && *name != flag && len(o.found[i]) > 1:
			return s, false, nil
		case flag != "":
			*name = flag
		case *name == "" && len(o.found[i]) == 1 && n.flag != "agent":
			*name = slices.Collect(maps.Keys(o.found[i]))[0]
		case *name == "" && n.flag == "user" && len(o.found[i]) > 1:
			return s, false, command.Usagef("%s: it names no user, and the bundle has several: select one with --user; nothing was imported", c.file)
		}
	}
	s.Project, s.User = cmp.Or(s.Project, "default"), cmp.Or(s.User, "default")
	if err := s.Validate(); err != nil {
		return s, false, command.Usagef("%s: %w; nothing was imported", c.file, err)
	}
	return s, true, nil
}

// groups returns the parts of the bundle by their scopes, and how many concepts are left out: those of owners that the flags
// do not select, entries that a session of the bundle proves again, and tasks and decision records, which are no statements.
func (o owners) groups(heads map[string]concept) (map[schema.Scope]*group, int, error) {
	out, left, sessions := map[schema.Scope]*group{}, 0, map[schema.SessionKey]bool{}
	for _, c := range heads {
		if c.head.Type == "Session" && c.head.Session != "" {
			sessions[schema.SessionKey{Scope: c.scope(), SessionID: c.head.Session}] = true
		}
	}
	for _, file := range slices.Sorted(maps.Keys(heads)) {
		c := heads[file]
		scope, ok, err := o.of(c)
		if err != nil {
			return nil, 0, err
		}
		own := c.head.AxiomMind != nil && c.head.AxiomMind.ID != "" && c.head.Memory == ""
		if !ok || own && (c.head.Type == "Task" || c.head.Type == "Decision Record") ||
			own && slices.ContainsFunc(c.head.Sources, func(s source) bool { return sessions[schema.SessionKey{Scope: c.scope(), SessionID: s.Session}] }) {
			left++
			continue
		}
		if out[scope] == nil {
			out[scope] = &group{}
		}
		if c.head.Memory == "" {
			out[scope].files = append(out[scope].files, file)
		} else if item, ok := c.item(); ok {
			if why := item.TooLong(); why != "" {
				return nil, 0, command.Usagef("%s: %s; nothing was imported", file, why)
			}
			out[scope].items = append(out[scope].items, item)
		}
	}
	return out, left, nil
}

// item returns the fact or the section of the profile that the concept is.
func (c concept) item() (fact.Item, bool) {
	own := c.head.AxiomMind
	if own == nil {
		own = &ownFields{}
	}
	i := fact.Item{Content: strings.TrimSuffix(strings.TrimPrefix(c.body, "\n"), "\n"), Confidence: own.Confidence}
	switch c.head.Memory {
	case format.OKFFact:
		i.Category, i.SourceError = own.Category, own.SourceError
	case format.OKFProfile:
		i.Section = own.Section
	default:
		return i, false
	}
	if c.head.Generated != nil {
		i.Since = c.head.Generated.At
	}
	return i, c.head.Memory == format.OKFFact || i.Section != ""
}
