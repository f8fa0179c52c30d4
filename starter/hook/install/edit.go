package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Add returns the settings with hooks in place of the agent's hooks that this package added before. All other bytes stay as
// they are: order, white space, and comments, which some agents permit. Settings that already contain exactly these hooks
// are returned unchanged.
func Add(agent string, settings []byte, hooks []Hook) ([]byte, error) {
	d, err := parse(settings)
	if err != nil {
		return nil, err
	}
	if d.holds(agent, hooks) {
		return settings, nil
	}
	d.remove(agent)
	for _, h := range hooks {
		if err := d.add(h); err != nil {
			return nil, err
		}
	}
	return d.text()
}

// Remove returns the settings without the agent's hooks that [Add] added, and without the lists that become empty.
func Remove(agent string, settings []byte) ([]byte, error) {
	d, err := parse(settings)
	if err != nil {
		return nil, err
	}
	if !d.remove(agent) {
		return settings, nil
	}
	return d.text()
}

const byteOrderMark = "\uFEFF"

// document is a parsed settings file.
type document struct {
	mark, newline, unit string
	value               hujson.Value
	root                *hujson.Object
	// hooks is nil if the settings have none.
	hooks *hujson.Object
}

func parse(settings []byte) (*document, error) {
	d := &document{newline: "\n", unit: "  "}
	text := string(settings)
	if rest, marked := strings.CutPrefix(text, byteOrderMark); marked {
		d.mark, text = byteOrderMark, rest
	}
	if strings.TrimSpace(text) == "" {
		text = "{}\n"
	}
	if strings.Contains(text, "\r\n") {
		d.newline = "\r\n"
	}
	value, err := hujson.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the settings are not JSON, and were left unchanged: fix them first: %w", err)
	}
	d.value = value
	root, ok := d.value.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("the settings are not a JSON object, and were left unchanged")
	}
	d.root = root
	if len(root.Members) > 0 {
		if indent, multi := lastLine(root.Members[0].Name.BeforeExtra); multi && indent != "" {
			d.unit = indent
		}
	}
	seen := false
	for i := range root.Members {
		if name(root.Members[i]) != "hooks" {
			continue
		}
		if seen {
			return nil, errors.New("the settings have hooks twice, and were left unchanged: join them first")
		}
		seen = true
		if d.hooks, ok = root.Members[i].Value.Value.(*hujson.Object); !ok {
			return nil, errors.New("hooks in the settings is not an object: they were left unchanged")
		}
	}
	return d, nil
}

func name(m hujson.ObjectMember) string {
	literal, _ := m.Name.Value.(hujson.Literal)
	return literal.String()
}

func (d *document) text() ([]byte, error) {
	out := append([]byte(d.mark), d.value.Pack()...)
	if _, err := hujson.Parse(bytes.TrimPrefix(out, []byte(byteOrderMark))); err != nil {
		return nil, fmt.Errorf("change the settings: the result would not be JSON: %w", err)
	}
	return out, nil
}

// ours returns the handler's command, and whether [Add] wrote it.
func ours(agent string, handler hujson.Value) (command string, is bool) {
	o, ok := handler.Value.(*hujson.Object)
	if !ok {
		return "", false
	}
	for _, m := range o.Members {
		literal, ok := m.Value.Value.(hujson.Literal)
		if ok && name(m) == "command" && literal.Kind() == '"' {
			command = literal.String()
		}
	}
	return command, Ours(agent, command)
}

// holds reports whether the settings contain exactly these hooks for the agent.
func (d *document) holds(agent string, hooks []Hook) bool {
	var found []Hook
	if d.hooks != nil {
		for _, event := range d.hooks.Members {
			each(event.Value, func(handlers *hujson.Array) {
				for _, h := range handlers.Elements {
					if command, is := ours(agent, h); is {
						found = append(found, Hook{name(event), command})
					}
				}
			})
		}
	}
	order := func(a, b Hook) int { return strings.Compare(a.Event+"\x00"+a.Command, b.Event+"\x00"+b.Command) }
	want := slices.Clone(hooks)
	slices.SortFunc(found, order)
	slices.SortFunc(want, order)
	return slices.Equal(found, want)
}

// each calls visit with the handlers of each group of an event.
func each(event hujson.Value, visit func(handlers *hujson.Array)) {
	groups, ok := event.Value.(*hujson.Array)
	if !ok {
		return
	}
	for _, g := range groups.Elements {
		if handlers := handlersOf(g); handlers != nil {
			visit(handlers)
		}
	}
}

func handlersOf(group hujson.Value) *hujson.Array {
	if o, ok := group.Value.(*hujson.Object); ok {
		for _, m := range o.Members {
			if handlers, ok := m.Value.Value.(*hujson.Array); ok && name(m) == "hooks" {
				return handlers
			}
		}
	}
	return nil
}

// remove deletes the agent's hooks and the lists that become empty.
func (d *document) remove(agent string) (changed bool) {
	if d.hooks == nil {
		return false
	}
	d.hooks.Members, changed = without(d.hooks.Members, &d.hooks.AfterExtra, memberPlace, func(event *hujson.ObjectMember) (emptied, changed bool) {
		groups, ok := event.Value.Value.(*hujson.Array)
		if !ok {
			return false, false
		}
		groups.Elements, changed = without(groups.Elements, &groups.AfterExtra, elementPlace, func(g *hujson.ArrayElement) (emptied, changed bool) {
			handlers := handlersOf(*g)
			if handlers == nil {
				return false, false
			}
			handlers.Elements, changed = without(handlers.Elements, &handlers.AfterExtra, elementPlace, func(h *hujson.ArrayElement) (emptied, changed bool) {
				_, is := ours(agent, *h)
				return is, is
			})
			return changed && len(handlers.Elements) == 0, changed
		})
		return changed && len(groups.Elements) == 0, changed
	})
	if changed && len(d.hooks.Members) == 0 {
		d.root.Members, _ = without(d.root.Members, &d.root.AfterExtra, memberPlace, func(m *hujson.ObjectMember) (emptied, changed bool) {
			is := name(*m) == "hooks"
			return is, is
		})
		d.hooks = nil
	}
	return changed
}

// surroundings is the white space and the comments around an item.
type surroundings struct {
	before *hujson.Extra
	// after is nil if no comma follows.
	after *hujson.Extra
}

func memberPlace(m *hujson.ObjectMember) surroundings {
	return surroundings{&m.Name.BeforeExtra, &m.Value.AfterExtra}
}
func elementPlace(e *hujson.ArrayElement) surroundings {
	return surroundings{&e.BeforeExtra, &e.AfterExtra}
}

// without removes the items that visit reports as emptied, but keeps the comments before them. The last remaining item has a
// comma after it if the last one had one before.
func without[T any](items []T, end *hujson.Extra, at func(*T) surroundings, visit func(*T) (emptied, changed bool)) (kept []T, changed bool) {
	if len(items) == 0 {
		return items, false
	}
	trailing, comment := *at(&items[len(items)-1]).after != nil, ""
	for i := range items {
		emptied, does := visit(&items[i])
		changed = changed || does
		before := at(&items[i]).before
		if emptied {
			comment += strings.TrimRight(string(*before), " \t\r\n")
			continue
		}
		*before = join(comment, *before)
		comment = ""
		kept = append(kept, items[i])
	}
	if len(kept) == len(items) {
		return kept, changed
	}
	*end = join(comment, *end)
	if len(kept) > 0 {
		setComma(at(&kept[len(kept)-1]).after, end, trailing)
	} else if strings.TrimSpace(string(*end)) == "" {
		*end = nil
	}
	return kept, changed
}

// join puts a comment, which may extend to the end of its line, before white space.
func join(comment string, extra hujson.Extra) hujson.Extra {
	if rest := strings.TrimLeft(string(extra), " \t\r"); comment != "" && !strings.HasPrefix(rest, "\n") {
		comment += "\n"
	}
	return hujson.Extra(comment + string(extra))
}

// setComma sets or removes the comma after the last item. A comment before a removed comma stays after the item.
func setComma(last, end *hujson.Extra, comma bool) {
	switch {
	case comma && *last == nil:
		*last = hujson.Extra{}
	case !comma:
		if comment := strings.TrimRight(string(*last), " \t\r\n"); comment != "" {
			*end = join(comment, *end)
		}
		*last = nil
	}
}

// lastLine returns the white space after the last line break, and whether there is a line break.
func lastLine(extra hujson.Extra) (indent string, multi bool) {
	at := strings.LastIndexByte(string(extra), '\n')
	return string(extra[at+1:]), at >= 0
}
