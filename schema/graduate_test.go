package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// No event is made of a decision on unverified evidence. An event from another writer is read without that evidence.
func TestDecisionsRestOnWhatIsVerified(t *testing.T) {
	t.Parallel()
	for _, stage := range []Stage{"", StageRaw, StageWorking, StageCandidate, "proven"} {
		_, err := NewEvent(DecisionRecordedPayload{
			DecisionID: "d", Evidence: []DecisionEvidence{{Kind: GroundEntry, ID: "a", Stage: StageVerified}, {Kind: GroundEntry, ID: "b", Stage: stage}},
		}, Event{})
		require.ErrorContains(t, err, `rests on entry "b"`)
	}
	sure := 0.5
	made := DecisionRecordedPayload{
		Scope: Scope{Project: "p", User: "u"}, DecisionID: "d", Action: "go", By: "ann", Confidence: &sure,
		Evidence: []DecisionEvidence{{Kind: GroundEntry, ID: "a", Stage: StageVerified, Role: RoleStatement}, {Kind: GroundEntry, ID: "b", Stage: StageCertified, Role: RoleGround}},
	}
	event, err := NewEvent(made, Event{})
	require.NoError(t, err)
	read, err := Decode[DecisionRecordedPayload](event)
	require.NoError(t, err)
	require.Equal(t, made, read)

	forged, err := json.Marshal(map[string]any{"decision_id": "d", "evidence": []DecisionEvidence{
		{Kind: GroundEntry, ID: "a", Stage: StageWorking}, {Kind: GroundEntry, ID: "b", Stage: StageVerified},
	}})
	require.NoError(t, err)
	read, err = Decode[DecisionRecordedPayload](Event{Type: DecisionRecorded, Payload: forged})
	require.NoError(t, err)
	require.Equal(t, []DecisionEvidence{{Kind: GroundEntry, ID: "b", Stage: StageVerified}}, read.Evidence)
}
