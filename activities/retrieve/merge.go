package retrieve

import (
	"axiommind/activities/entry"
	"axiommind/schema"
)

// text names what an entry says: entries with the same one are one hit, whatever their type.
type text struct{ title, content string }

func textOf(e schema.Entry) text {
	t := text{entry.Normalize(e.Title), entry.Normalize(e.Content)}
	if t.content == t.title {
		t.content = ""
	}
	return t
}

// merge keeps the first hit of each text.
func merge(hits []Hit) []Hit {
	seen := make(map[text]bool, len(hits))
	out := hits[:0]
	for _, h := range hits {
		if t := textOf(h.Entry); !seen[t] {
			seen[t] = true
			out = append(out, h)
		}
	}
	return out
}
