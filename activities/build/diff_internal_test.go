package build

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// diffed is an entry with one piece of evidence in message 0.
func diffed(id, title string, from, to int) schema.Entry {
	return schema.Entry{
		ID: id, Type: schema.EntryDecision, Title: title, EvidenceAligned: true,
		Evidence: []schema.Evidence{{Found: true, Quote: title, Span: schema.Span{ByteStart: from, ByteEnd: to}}},
	}
}

func diffOf(a, b []schema.Entry) Diff {
	var d Diff
	d.compare(a, b)
	return d
}

func TestDiffPairs(t *testing.T) {
	t.Parallel()
	d := diffOf(
		[]schema.Entry{diffed("1", "use Kafka", 0, 10), diffed("2", "배포", 20, 30), diffed("3", "only here", 50, 60), diffed("4", "same", 70, 80)},
		[]schema.Entry{diffed("4", "same", 70, 80), diffed("1", "Use Kafka.", 0, 10), diffed("5", "ship it", 25, 40), diffed("6", "new", 90, 95)},
	)
	require.Equal(t, 1, d.Same)
	require.Equal(t, "3", d.OnlyA[0].ID)
	require.Len(t, d.OnlyA, 1)
	require.Equal(t, "6", d.OnlyB[0].ID)
	require.Len(t, d.OnlyB, 1)
	require.Len(t, d.Changed, 2)
	require.True(t, d.Changed[0].SameID)
	require.Equal(t, []ChangedProperty{
		{"title", "use Kafka", "Use Kafka."}, {"evidence", "message 0: “use Kafka”", "message 0: “Use Kafka.”"},
	}, d.Changed[0].Fields)
	require.False(t, d.Changed[1].SameID)
	require.Equal(t, [2]string{"2", "5"}, [2]string{d.Changed[1].A.ID, d.Changed[1].B.ID}, "what shares sentences is changed, not removed and added")
}

// Of several entries in the same sentences those are pairs that share most, and of equals those of the same type.
func TestDiffPairsTheLikest(t *testing.T) {
	t.Parallel()
	fact := diffed("f", "fact", 0, 10)
	fact.Type = schema.EntryFact
	d := diffOf([]schema.Entry{diffed("a", "a", 0, 10)}, []schema.Entry{diffed("b", "b", 5, 10), fact, diffed("c", "c", 0, 10)})
	require.Equal(t, "c", d.Changed[0].B.ID)
	require.Len(t, d.OnlyB, 2)
}

func TestDiffProperties(t *testing.T) {
	t.Parallel()
	half, whole := 0.5, 1.0
	x, y := diffed("1", "t", 0, 1), diffed("1", "t", 0, 1)
	require.Empty(t, properties(x, y))
	x.Content, x.Category, x.Confidence, y.Confidence = "c", "goal", &half, &whole
	x.Task = &schema.ExtractedTask{Title: "t", Status: schema.TaskBlocked, Priority: schema.PriorityHigh, BlockedBy: []string{"a", "b"}}
	y.EvidenceProven, y.Type = true, schema.EntryTaskNote
	require.Equal(t, []ChangedProperty{
		{"type", "decision", "task_note"}, {"content", "c", ""}, {"category", "goal", ""}, {"confidence", "0.5", "1"}, {"task", "t", ""},
		{"task status", "blocked", ""}, {"task priority", "high", ""}, {"blocked by", "a; b", ""}, {"standing", "aligned", "proven"},
	}, properties(x, y))
}

// Each entry of both sides is in the result exactly once, and comparing the other way round gives the mirror.
func TestDiffHoldsEachOnce(t *testing.T) {
	t.Parallel()
	entries := func(side string) *rapid.Generator[[]schema.Entry] {
		return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) schema.Entry {
			from := rapid.IntRange(0, 20).Draw(t, "from")
			id := rapid.SampledFrom([]string{"1", "2", "3", side + "4", side + "5", side + "6"}).Draw(t, "id")
			return diffed(id, id, from, from+rapid.IntRange(0, 10).Draw(t, "bytes"))
		}), 0, 6, func(e schema.Entry) string { return e.ID })
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := entries("a").Draw(t, "a"), entries("b").Draw(t, "b")
		d := diffOf(a, b)
		require.Equal(t, len(a), len(d.OnlyA)+len(d.Changed)+d.Same)
		require.Equal(t, len(b), len(d.OnlyB)+len(d.Changed)+d.Same)
		seen := map[string]bool{}
		once := func(side string, e schema.Entry) {
			require.False(t, seen[side+e.ID], fmt.Sprint(side, e.ID))
			seen[side+e.ID] = true
		}
		for _, e := range d.OnlyA {
			once("A", e)
		}
		for _, e := range d.OnlyB {
			once("B", e)
		}
		for _, c := range d.Changed {
			once("A", c.A)
			once("B", c.B)
		}
		require.Equal(t, len(a), diffOf(a, a).Same)
	})
}

// The step in which a build failed may be recorded incompletely. Earlier steps are repeated, and skipped steps are not.
func TestReplayedSteps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status        schema.BuildStatus
		failed, since string
		did           []string
		stored        string
	}{
		"success": {schema.BuildSuccess, "", "", []string{schema.StepExtract, schema.StepAlign, schema.StepMaterialize}, ""},
		"ingest":  {schema.BuildFailed, schema.StepIngest, "", nil, ""},
		"extract": {schema.BuildFailed, schema.StepExtract, "", []string{schema.StepExtract}, ""},
		"align":   {schema.BuildFailed, schema.StepAlign, "", []string{schema.StepExtract}, ""},
		"long":    {schema.BuildFailed, schema.StepMaterialize, "", []string{schema.StepExtract, schema.StepAlign}, schema.EvidenceAligned},
		"memory":  {schema.BuildFailed, schema.StepMemory, "", []string{schema.StepExtract, schema.StepAlign, schema.StepMaterialize}, ""},
		"resumed": {schema.BuildSuccess, "", schema.StepMaterialize, []string{schema.StepMaterialize}, ""},
		"again":   {schema.BuildFailed, schema.StepAlign, schema.StepAlign, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := recording{finished: schema.BuildFinishedPayload{Status: tt.status, FailedStep: tt.failed}}
			if tt.stored != "" {
				r.events = []schema.Event{{Type: tt.stored}}
			}
			if tt.since != "" {
				r.started.Resumed = &schema.ResumedBuild{Step: tt.since}
			}
			var did []string
			for _, step := range []string{schema.StepExtract, schema.StepAlign, schema.StepMaterialize} {
				if r.ran(step) {
					did = append(did, step)
				}
			}
			require.Equal(t, tt.did, did)
		})
	}
}

func TestCompareJSON(t *testing.T) {
	t.Parallel()
	fields, err := compareJSON([]byte(`{"a":1,"b":[{"c":"x"},{"c":"y"}],"n":9007199254740993,"z":null}`), []byte(`{"a":1,"b":[{"c":"x"},{"c":"w","d":true}],"n":9007199254740992}`))
	require.NoError(t, err)
	require.Equal(t, []FieldDifference{
		{"b[1].c", "y", "w"}, {"b[1].d", "", "true"}, {"n", "9007199254740993", "9007199254740992"},
	}, fields)
	_, err = compareJSON([]byte(`{`), []byte(`{}`))
	require.Error(t, err)
}
