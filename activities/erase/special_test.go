package erase

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// A statement that took the place of another and left in the same version is nowhere but in the list of what was dropped.
// Its words go with its source from there too.
func TestReplacementThatLeftIsErased(t *testing.T) {
	t.Parallel()
	p := &pass{gone: newGone(schema.ErasureScope{})}
	p.begin()
	p.ids["s2"] = true
	left, changed := p.core(schema.Event{Stream: schema.MemoryStream("ann", "")}, schema.CoreCommittedPayload{Version: 2, Parent: 1, Dropped: []schema.DroppedItem{
		{Text: "Likes tea.", From: schema.FromMemory, Reason: schema.DroppedMerged, By: "Likes tea. Has a cat.", Sources: []string{"s1"}},
		{Text: "Likes tea. Has a cat.", From: schema.FromMemory, Reason: schema.DroppedRoom, Sources: []string{"s1", "s2"}},
	}})
	require.True(t, changed)
	require.Equal(t, []schema.DroppedItem{
		{Text: "Likes tea.", From: schema.FromMemory, Reason: schema.DroppedMerged, Sources: []string{"s1"}},
	}, left.(schema.CoreCommittedPayload).Dropped)
}
