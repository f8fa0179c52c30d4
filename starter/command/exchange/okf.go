package exchange

import (
	"cmp"
	"context"
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
	"axiommind/starter/command/facts"
	"axiommind/starter/command/feed"
)

// maxConcept bounds a concept whose head is read, in bytes.
const maxConcept = 512 << 20

// importBundle imports a bundle: facts and the profile by their writer, and all other concepts as sessions. Names that the scope
// leaves out are those of the bundle, if it has one of each.
func importBundle(ctx context.Context, a *command.App, dir string, scope schema.Scope, dry bool) error {
	heads, err := readBundle(dir)
	if err != nil {
		return err
	}
	if scope, err = scopeOf(heads, scope); err != nil {
		return err
	}
	var items []fact.Item
	sessions := 0
	for _, file := range slices.Sorted(maps.Keys(heads)) {
		if c := heads[file]; c.head.Memory == "" {
			sessions++
		} else if item, ok := c.item(); ok {
			if why := item.TooLong(); why != "" {
				return command.Usagef("%s: %s; nothing was imported", file, why)
			}
			items = append(items, item)
		}
	}
	say := func(text string) { _, _ = fmt.Fprintln(a.ErrOut, text) }
	if dry {
		say(fmt.Sprintf("nothing was imported; it would be: %s, %s as sessions", command.Plural(len(items), "fact or section", "facts and sections"), command.Plural(sessions, "concept", "concepts")))
		return nil
	}
	if len(items) > 0 {
		r, err := facts.Import(ctx, a, fact.Command{User: scope.User, Agent: scope.Agent, Project: scope.Project, Reason: "import of a bundle"}, items)
		if err != nil {
			return err
		}
		skipped := 0
		for _, n := range r.Skipped {
			skipped += n
		}
		say(fmt.Sprintf("%s created, %s set, %d skipped", command.Plural(r.Created, "fact", "facts"), command.Plural(r.Sections, "section of the profile", "sections of the profile"), skipped))
	}
	if sessions == 0 {
		return nil
	}
	return feed.Migrate(ctx, a, "okf", dir, scope)
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
	return heads, err
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
	if c.head.Memory, _ = fields["memory"].(string); c.head.Memory == format.OKFFact || c.head.Memory == format.OKFProfile {
		c.body = body
	} else if c.head.Memory != format.OKFCore {
		c.head.Memory = ""
	}
	return c, nil
}

// scopeOf fills in the names of the bundle.
func scopeOf(heads map[string]concept, scope schema.Scope) (schema.Scope, error) {
	projects, users, agents := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range heads {
		if own := c.head.AxiomMind; own != nil && own.User != "" {
			users[own.User], agents[own.Agent] = true, true
			if own.Project != "" {
				projects[own.Project] = true
			}
		}
	}
	for _, of := range []struct {
		into  *string
		found map[string]bool
		flag  string
	}{{&scope.Project, projects, "project"}, {&scope.User, users, "user"}, {&scope.Agent, agents, "agent"}} {
		switch {
		case *of.into != "":
		case len(of.found) == 1:
			*of.into = slices.Collect(maps.Keys(of.found))[0]
		case len(of.found) > 1 && of.flag != "agent":
			return scope, command.Usagef("the bundle is of %d %ss: give --%s for all of it, or import %s, which keeps each", len(of.found), of.flag, of.flag, eventsFile)
		}
	}
	scope.Project, scope.User = cmp.Or(scope.Project, "default"), cmp.Or(scope.User, "default")
	if err := scope.Validate(); err != nil {
		return scope, command.BadUsage(err)
	}
	return scope, nil
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
