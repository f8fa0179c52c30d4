package retrieve

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"axiommind/schema"
)

// cursorVersion is that of the order of hits and of their keys. With another one, the next page would not follow the last one.
const cursorVersion = 1

// cursor records which hits of a query were listed. New memories between two pages change the order of hits. With this
// record no hit comes twice, and none is passed over.
type cursor struct {
	Version int `json:"v"`
	// Query is a hash of everything that decides the answer.
	Query string `json:"q"`
	// At is the time of the first page, to which recency is relative on all of them.
	At time.Time `json:"at"`
	// Seen are hashes of the keys of the hits that were listed.
	Seen []uint32 `json:"seen"`
}

func (c cursor) String() string {
	data, _ := json.Marshal(c) //nolint:errchkjson // it holds texts, numbers and a time
	return base64.RawURLEncoding.EncodeToString(data)
}

// readCursor returns the query's cursor. Without one, it is the beginning, now.
func (s *Searcher) readCursor(q Query) (cursor, error) {
	first := cursor{Version: cursorVersion, Query: s.hash(q), At: s.now().UTC()}
	if q.Cursor == "" {
		return first, nil
	}
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	switch {
	case err != nil || len(c.Seen) == 0 || len(c.Seen) >= MaxLimit:
		return c, fmt.Errorf("%w: cursor %.20q… is none that a search has returned", ErrQuery, q.Cursor)
	case c.Version != first.Version:
		return c, fmt.Errorf("%w: the cursor is of another version of the program, which lists in another order: begin with the first page", ErrQuery)
	case c.Query != first.Query:
		return c, fmt.Errorf("%w: the cursor is of another query, or of another embedder or other weights: begin with the first page", ErrQuery)
	}
	return c, nil
}

// hash hashes everything that decides the hits and their order, except the log.
func (s *Searcher) hash(q Query) string {
	q.Limit, q.Cursor, q.Expand = 0, "", 0
	data, _ := json.Marshal([]any{q, s.embedder.Version(), s.alpha, s.weights}) //nolint:errchkjson // likewise
	return schema.HashText(string(data))[:16]
}

// rest returns the claims that were not listed yet.
func (c cursor) rest(claims []*claim) []*claim {
	return slices.DeleteFunc(claims, func(h *claim) bool { return slices.Contains(c.Seen, h.key()) })
}

// next returns the cursor once the claims are listed, or "" if there are no more or no more are listed.
func (c cursor) next(claims []*claim, more bool) string {
	if !more || len(c.Seen)+len(claims) >= MaxLimit {
		return ""
	}
	c.Seen = slices.Clone(c.Seen)
	for _, h := range claims {
		c.Seen = append(c.Seen, h.key())
	}
	return c.String()
}

// key distinguishes the hit from all others of one answer, whichever entry represents its statement.
func (h Hit) key() uint32 {
	name := "entry/" + cmp.Or(h.OriginalID, h.ID)
	switch h.Kind {
	case KindMessage:
		name = "message/" + h.Message.EventID + "/" + strconv.Itoa(h.Message.Index)
	case KindTask:
		name = "task/" + h.Tracked.ID
	case KindFact:
		name = h.Fact.ID + "/" + h.Agent
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return hash.Sum32()
}
