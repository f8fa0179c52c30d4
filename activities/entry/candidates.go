package entry

import (
	"context"
	"fmt"

	"axiommind/schema"
)

// candidate is an unproven entry of another session that states the same as one that is proven.
type candidate struct {
	id     string
	phrase phrase
}

// unproven returns the entries of the session's project, user and agent, other sessions' alone, that are not
// proven and state the same as one of those given. It is one query, and none for none.
func (r *Reader) unproven(ctx context.Context, session schema.SessionKey, proven []*held) ([]candidate, error) {
	wanted, titles := map[phrase]bool{}, []string{}
	for _, h := range proven {
		if p := phraseOf(&h.entry.Entry); !wanted[p] {
			wanted[p] = true
			titles = append(titles, h.entry.Title)
		}
	}
	rows, err := r.Read(ctx, OfAgent(session.Scope).NotOfSession(session).Titles(titles).Unproven(), Statement)
	if err != nil {
		return nil, fmt.Errorf("read unproven entries that state the same: %w", err)
	}
	var out []candidate
	for i := range rows {
		if p := phraseOf(&rows[i].Entry); wanted[p] {
			out = append(out, candidate{rows[i].ID, p})
		}
	}
	return out, nil
}
