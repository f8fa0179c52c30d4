package retrieve

import (
	"axiommind/activities/text"
	"axiommind/schema"
)

// wording is the text of an entry. Entries with the same wording are one hit, whatever their type.
type wording struct{ title, content string }

func wordingOf(e schema.Entry) wording {
	w := wording{text.Title(e.Title), text.Title(e.Content)}
	if w.content == w.title {
		w.content = ""
	}
	return w
}

// merge keeps the first hit of each wording.
func merge(hits []Hit) []Hit {
	seen := make(map[wording]bool, len(hits))
	out := hits[:0]
	for _, h := range hits {
		if w := wordingOf(h.Entry); !seen[w] {
			seen[w] = true
			out = append(out, h)
		}
	}
	return out
}
