package task

import (
	"context"
	"slices"
	"strings"

	"axiommind/schema"
)

// prefetch reads the rows that the resolution of the notes will most likely need, in up to three requests. They are the
// named entities, the related ones, and then the search results and the entities that wait for ones that may end. Other
// rows are read on demand.
func (v *overlay) prefetch(ctx context.Context, notes []schema.Entry) error {
	var first, second, third Wants
	for _, e := range notes {
		first.Entries = append(first.Entries, e.ID)
		v.addNames(&first, e)
	}
	for _, key := range first.Keys { // Most entities have the id that is derived from their key.
		first.IDs = append(first.IDs, schema.EntityID(key))
	}
	if err := v.ask(ctx, first); err != nil {
		return err
	}
	for _, e := range notes {
		if !v.observed[e.ID] {
			v.addRelated(&second, e)
		}
	}
	third.IDs = v.neighbours(second.IDs)
	second.IDs = append(second.IDs, third.IDs...)
	if err := v.ask(ctx, second); err != nil {
		return err
	}
	third.IDs = v.neighbours(third.IDs)
	for _, title := range second.Titles {
		third.IDs = append(third.IDs, v.titles[title]...)
	}
	for _, target := range second.Targets {
		third.IDs = append(third.IDs, v.pointing[target]...)
	}
	return v.ask(ctx, third)
}

// addNames adds the keys and ids that the note's texts may name.
func (v *overlay) addNames(w *Wants, e schema.Entry) {
	add := func(keys ...Key) {
		for _, k := range keys {
			w.Keys = append(w.Keys, k.String())
		}
	}
	addCondition := func(text string) {
		if key, err := KeyOfCondition(v.project, text); err == nil {
			add(key)
		}
		if key, ok := spellingKey(v.project, text); ok {
			add(key)
		}
	}
	title := titleOf(e)
	if key, err := KeyOfTask(v.project, title); err == nil {
		add(key)
		if e.Task.Status == schema.TaskBlocked {
			add(placeholderKey(v.project, key.ID()))
		}
	}
	addCondition(title)
	if e.Task.Status == schema.TaskDone {
		add(artifactsNamed(title)...)
	}
	for _, text := range e.Task.BlockedBy {
		forms := formsOf(text)
		addCondition(forms.condition)
		for _, keys := range mentions(forms.condition) {
			add(keys...)
		}
		for _, t := range forms.titles {
			if key, err := KeyOfTask(v.project, t); err == nil {
				add(key)
			}
			if id := bare(t); isID(id) {
				w.IDs = append(w.IDs, strings.ToLower(id))
			}
		}
		for _, t := range forms.artifacts {
			keys, _ := StrongArtifact(t)
			add(keys...)
		}
	}
}

// addRelated adds the entities that the note names, the titles to search for, and as targets the entities that the note
// may end.
func (v *overlay) addRelated(w *Wants, e schema.Entry) {
	named := Wants{}
	v.addNames(&named, e)
	for _, key := range named.Keys {
		if id := v.keys[key]; id != "" {
			w.IDs = append(w.IDs, id)
		}
	}
	w.IDs = append(w.IDs, named.IDs...)
	title := titleOf(e)
	if id := v.idOfTask(title); id == "" {
		w.Titles = append(w.Titles, title)
	} else if Closed(e.Task.Status) {
		w.Targets = append(w.Targets, id)
	}
	if key, err := KeyOfCondition(v.project, title); err == nil && v.keys[key.String()] != "" {
		w.Targets = append(w.Targets, v.keys[key.String()])
	}
	if e.Task.Status == schema.TaskDone {
		for _, key := range artifactsNamed(title) {
			if id := v.keys[key.String()]; id != "" {
				w.Targets = append(w.Targets, id)
			}
		}
	}
	for _, text := range e.Task.BlockedBy {
		forms := formsOf(text)
		isArtifact := slices.ContainsFunc(forms.artifacts, func(t string) bool { _, ok := StrongArtifact(t); return ok })
		isTask := slices.ContainsFunc(forms.titles, func(t string) bool { return v.idOfTask(t) != "" })
		if !isArtifact && !isTask {
			w.Titles = append(w.Titles, forms.titles[len(forms.titles)-1])
		}
	}
}

// idOfTask returns the id of the task with the title's key, or "" if there is none or the key was not read.
func (v *overlay) idOfTask(title string) string {
	key, err := KeyOfTask(v.project, title)
	if err != nil {
		return ""
	}
	return v.keys[key.String()]
}

// neighbours returns the ids of the entities that the loaded ones wait for or resolve to.
func (v *overlay) neighbours(ids []string) []string {
	var out []string
	for _, id := range ids {
		for _, edge := range v.entities[id].Edges() {
			if edge.Rel == schema.RelBlockedBy || edge.Rel == schema.RelResolvesTo {
				out = append(out, edge.Dst.ID)
			}
		}
	}
	return out
}
