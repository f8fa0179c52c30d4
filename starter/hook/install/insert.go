package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// The JSON of hooks in the settings of both agents: lists of groups by event, each with a list of handlers.
type (
	handler struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	group struct {
		Hooks []handler `json:"hooks"`
	}
)

// add appends a group with the hook to the list of its event.
func (d *document) add(h Hook) error {
	g := group{[]handler{{"command", h.Command, Timeout}}}
	if d.hooks == nil {
		if err := d.member(d.root, d.unit, "hooks", map[string][]group{h.Event: {g}}); err != nil {
			return err
		}
		d.hooks, _ = d.root.Members[len(d.root.Members)-1].Value.Value.(*hujson.Object)
		return nil
	}
	indent := d.unit + d.unit
	if len(d.hooks.Members) > 0 {
		if has, multi := lastLine(d.hooks.Members[0].Name.BeforeExtra); multi {
			indent = has
		}
	}
	for i := range d.hooks.Members {
		event := &d.hooks.Members[i]
		if name(*event) != h.Event {
			continue
		}
		groups, ok := event.Value.Value.(*hujson.Array)
		if !ok {
			return fmt.Errorf("hooks.%s in the settings is not a list: they were left unchanged", h.Event)
		}
		return d.element(groups, indent, g)
	}
	return d.member(d.hooks, indent, h.Event, []group{g})
}

// member appends a member to an object whose members have the indent.
func (d *document) member(o *hujson.Object, indent, key string, value any) error {
	before, compact := d.before(len(o.Members), indent, func() hujson.Extra { return o.Members[0].Name.BeforeExtra })
	v, err := d.render(value, indent, compact)
	if err != nil {
		return err
	}
	m := hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(key)}, Value: v}
	m.Value.BeforeExtra = hujson.Extra(" ")
	if n := len(o.Members); n == 0 {
		o.AfterExtra = d.closing(o.AfterExtra, indent)
	} else {
		m.Value.AfterExtra = comma(o.Members[n-1].Value.AfterExtra)
		m.Name.BeforeExtra = moveComment(&o.AfterExtra, m.Name.BeforeExtra)
	}
	o.Members = append(o.Members, m)
	return nil
}

// element appends an element to a list that is a member of an object whose members have the indent.
func (d *document) element(a *hujson.Array, indent string, value any) error {
	indent += d.unit
	if len(a.Elements) > 0 {
		if has, multi := lastLine(a.Elements[0].BeforeExtra); multi {
			indent = has
		}
	}
	before, compact := d.before(len(a.Elements), indent, func() hujson.Extra { return a.Elements[0].BeforeExtra })
	v, err := d.render(value, indent, compact)
	if err != nil {
		return err
	}
	v.BeforeExtra = before
	if n := len(a.Elements); n == 0 {
		a.AfterExtra = d.closing(a.AfterExtra, indent)
	} else {
		v.AfterExtra = comma(a.Elements[n-1].AfterExtra)
		v.BeforeExtra = moveComment(&a.AfterExtra, v.BeforeExtra)
	}
	a.Elements = append(a.Elements, v)
	return nil
}

// comma returns the text after the new last item: a comma if the previous last item had one.
func comma(last hujson.Extra) hujson.Extra {
	if last == nil {
		return nil
	}
	return hujson.Extra{}
}

// moveComment moves the comment on the line of the previous last item from the end of the list to the new item.
func moveComment(end *hujson.Extra, before hujson.Extra) hujson.Extra {
	comment, _, _ := strings.Cut(string(*end), "\n")
	comment = strings.TrimRight(comment, " \t\r")
	if comment == "" || strings.Count(comment, "/*") != strings.Count(comment, "*/") {
		return before
	}
	*end = hujson.Extra(strings.TrimPrefix(string(*end), comment))
	return join(comment, before)
}

// before returns the white space before a new item, and whether all is on one line.
func (d *document) before(items int, indent string, first func() hujson.Extra) (extra hujson.Extra, compact bool) {
	if items > 0 {
		if _, multi := lastLine(first()); !multi {
			return hujson.Extra(" "), true
		}
	}
	return hujson.Extra(d.newline + indent), false
}

// closing returns the comment and white space before the closing bracket of a list or object that was empty.
func (d *document) closing(was hujson.Extra, indent string) hujson.Extra {
	comment := strings.TrimRight(string(was), " \t\r\n")
	return hujson.Extra(comment + d.newline + strings.TrimSuffix(indent, d.unit))
}

// render returns the value as formatted at the indent.
func (d *document) render(value any, indent string, compact bool) (hujson.Value, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if !compact {
		encoder.SetIndent(indent, d.unit)
	}
	if err := encoder.Encode(value); err != nil {
		return hujson.Value{}, fmt.Errorf("change the settings: %w", err)
	}
	text := strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", d.newline)
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		return hujson.Value{}, fmt.Errorf("change the settings: %w", err)
	}
	return v, nil
}
