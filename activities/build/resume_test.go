package build

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

var (
	retryKey  = schema.SessionKey{Scope: schema.Scope{Project: "프로젝트/'1'", User: "u"}, SessionID: "s \"1\""}
	retrySpec = schema.BuildSpec{
		Extractor:     schema.Extractor{Provider: "rules", Model: "rules-v4", PromptHash: "h"},
		EmbedderModel: "hash", EmbeddingVersion: "hash-v1", IdrisVersion: "unavailable", SchemaVersion: "1",
	}
	// counted are the counts of a build that ran through all steps.
	counted = schema.BuildCounts{
		Messages: 9, NewMessages: 8, SkippedLines: 7, Windows: 6, Rejected: 5, Entries: 4, NewEntries: 3, TaskNotes: 2,
		Facts: 1, AlignedEntries: 4, ProvenEntries: 3, GainedEntries: 2, CandidateEntries: 4, VerifiedEntries: 2,
		PromotedEntries: 1, Indexed: 4,
	}
)

// lastBuild is the session's third build, which began with a source that was read.
func lastBuild(status schema.BuildStatus, step string, change func(*schema.BuildFinishedPayload)) Last {
	f := &schema.BuildFinishedPayload{BuildID: ID(retryKey, 3), Status: status, FailedStep: step, ExtractorID: retrySpec.Extractor.ID(), Counts: counted}
	if change != nil {
		change(f)
	}
	return Last{Started: schema.BuildStartedPayload{
		BuildID: ID(retryKey, 3), SessionKey: retryKey, Ordinal: 3, Spec: retrySpec, Source: schema.Source{SHA256: "hash"},
	}, Finished: f}
}

// Only the latest build of a session is retried, and only if it left something to do. Each refusal names the remedy.
func TestRetryable(t *testing.T) {
	t.Parallel()
	latest := ID(retryKey, 3)
	interrupted := Last{Started: schema.BuildStartedPayload{
		BuildID: latest, Ordinal: 3, Input: schema.ProcessSessionInput{Retry: ID(retryKey, 2)},
	}}
	for name, tt := range map[string]struct {
		last   Last
		id     string
		reason string
	}{
		"failed":               {lastBuild(schema.BuildFailed, schema.StepIngest, nil), latest, ""},
		"partial: window":      {lastBuild(schema.BuildPartial, "", func(f *schema.BuildFinishedPayload) { f.Counts.Quarantined = 1 }), latest, ""},
		"partial: vector":      {lastBuild(schema.BuildPartial, "", func(f *schema.BuildFinishedPayload) { f.Counts.IndexFailed = 1 }), latest, ""},
		"interrupted":          {interrupted, latest, ""},
		"its retry broke off":  {interrupted, ID(retryKey, 2), ""},
		"before that":          {interrupted, ID(retryKey, 1), `which is "` + latest + `" (interrupted): give that one`},
		"success":              {lastBuild(schema.BuildSuccess, "", nil), latest, "it ended as success and left nothing to do: process the session again if it has grown"},
		"empty":                {lastBuild(schema.BuildEmpty, "", nil), latest, "it ended as empty and left nothing to do"},
		"not the latest":       {lastBuild(schema.BuildFailed, schema.StepIndex, nil), ID(retryKey, 1), `it is not the latest of session "s \"1\"", which is "` + latest + `" (failed): give that one`},
		"the next one":         {lastBuild(schema.BuildFailed, schema.StepIndex, nil), ID(retryKey, 4), "has no such build; its latest is"},
		"of another session":   {lastBuild(schema.BuildFailed, schema.StepIndex, nil), ID(schema.SessionKey{SessionID: "t"}, 3), "has no such build"},
		"nonsense":             {lastBuild(schema.BuildFailed, schema.StepIndex, nil), "'; DROP TABLE \n", `retry build "'; DROP TABLE \n": session`},
		"a session of no name": {Last{}, latest, `has no build: check these names`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tt.last.retryable(retryKey, tt.id, 0)
			if tt.reason == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.reason)
		})
	}
}

// A build continues at the first step that left something to do, with the counts of the steps before it.
func TestResumable(t *testing.T) {
	t.Parallel()
	windows := schema.BuildCounts{Windows: 6, Rejected: 5}
	made := counted
	made.Messages, made.NewMessages, made.SkippedLines, made.Indexed = 0, 0, 0, 0
	all := made
	all.Indexed = 4
	quarantined := func(f *schema.BuildFinishedPayload) { f.Counts.Quarantined = 1 }
	for name, tt := range map[string]struct {
		last   Last
		step   string
		counts schema.BuildCounts
	}{
		"extract":                    {lastBuild(schema.BuildFailed, schema.StepExtract, nil), schema.StepExtract, schema.BuildCounts{}},
		"align":                      {lastBuild(schema.BuildFailed, schema.StepAlign, nil), schema.StepExtract, windows},
		"materialize":                {lastBuild(schema.BuildFailed, schema.StepMaterialize, nil), schema.StepExtract, windows},
		"check":                      {lastBuild(schema.BuildFailed, schema.StepCheck, nil), schema.StepExtract, windows},
		"tasks":                      {lastBuild(schema.BuildFailed, schema.StepTasks, nil), schema.StepTasks, made},
		"memory":                     {lastBuild(schema.BuildFailed, schema.StepMemory, nil), schema.StepMemory, made},
		"project":                    {lastBuild(schema.BuildFailed, schema.StepProject, nil), schema.StepProject, made},
		"index":                      {lastBuild(schema.BuildFailed, schema.StepIndex, nil), schema.StepIndex, made},
		"close":                      {lastBuild(schema.BuildFailed, schema.StepCloseBuild, nil), schema.StepCloseBuild, all},
		"vectors":                    {lastBuild(schema.BuildPartial, "", func(f *schema.BuildFinishedPayload) { f.Counts.IndexFailed = 2 }), schema.StepIndex, made},
		"windows":                    {lastBuild(schema.BuildPartial, "", quarantined), schema.StepExtract, schema.BuildCounts{}},
		"a window, and index failed": {lastBuild(schema.BuildFailed, schema.StepIndex, quarantined), schema.StepExtract, schema.BuildCounts{}},
		"ingest":                     {lastBuild(schema.BuildFailed, schema.StepIngest, quarantined), "", schema.BuildCounts{}},
		"open":                       {lastBuild(schema.BuildFailed, schema.StepOpenBuild, nil), "", schema.BuildCounts{}},
		"success":                    {lastBuild(schema.BuildSuccess, "", nil), "", schema.BuildCounts{}},
		"empty":                      {lastBuild(schema.BuildEmpty, "", nil), "", schema.BuildCounts{}},
		"interrupted":                {Last{Started: lastBuild("", "", nil).Started}, "", schema.BuildCounts{}},
		"none":                       {Last{}, "", schema.BuildCounts{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tt.last.resumable(retrySpec, 0)
			if tt.step == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, &schema.ResumableBuild{
				ResumedBuild: schema.ResumedBuild{BuildID: ID(retryKey, 3), Step: tt.step}, SHA256: "hash", Counts: tt.counts,
			}, got)
			interrupted := Last{Started: schema.BuildStartedPayload{Ordinal: 4}, Before: &tt.last}
			require.Equal(t, got, interrupted.resumable(retrySpec, 0), "the build after it broke off")

			unread := tt.last
			unread.Started.Source.SHA256 = ""
			require.Nil(t, unread.resumable(retrySpec, 0))
		})
	}
	for name, change := range map[string]func(*schema.BuildSpec){
		"model":     func(s *schema.BuildSpec) { s.Extractor.Model = "rules-v5" },
		"tools":     func(s *schema.BuildSpec) { s.Extractor.Tools = true },
		"embedding": func(s *schema.BuildSpec) { s.EmbeddingVersion = "hash-v2" },
		"schema":    func(s *schema.BuildSpec) { s.SchemaVersion = "2" },
	} {
		other := retrySpec
		change(&other)
		require.Nil(t, lastBuild(schema.BuildFailed, schema.StepIndex, nil).resumable(other, 0), name)
	}
	other := retrySpec
	other.IdrisVersion = "0.8"
	require.NotNil(t, lastBuild(schema.BuildFailed, schema.StepIndex, nil).resumable(other, 0), "it makes no difference to what is stored")
}

// Abandoned windows are left alone unless a retry is forced. Such a retry repeats only them, and an interrupted retry
// continues with them.
func TestRetryOfGivenUpWindows(t *testing.T) {
	t.Parallel()
	last := lastBuild(schema.BuildPartial, "", func(f *schema.BuildFinishedPayload) { f.Counts.Quarantined, f.Counts.GivenUp = 2, 2 })
	require.ErrorContains(t, last.retryable(retryKey, ID(retryKey, 3), 0), "give ask_given_up to ask about them once more")
	require.Nil(t, last.resumable(retrySpec, 0))
	require.NoError(t, last.retryable(retryKey, ID(retryKey, 3), 2))
	require.Equal(t, schema.StepExtract, last.resumable(retrySpec, 2).Step)
	require.True(t, last.retriedInput(true).AskGivenUp)
	last.Started.Input.AskGivenUp = true
	require.False(t, last.retriedInput(false).AskGivenUp, "each time is asked for")
	last.Finished = nil
	require.True(t, last.retriedInput(false).AskGivenUp, "it goes on")
	fine := lastBuild(schema.BuildSuccess, "", nil)
	require.ErrorContains(t, fine.retryable(retryKey, ID(retryKey, 3), 0), "left nothing to do")
	require.NoError(t, fine.retryable(retryKey, ID(retryKey, 3), 1), "an earlier build gave it up")
	require.Equal(t, schema.StepExtract, fine.resumable(retrySpec, 1).Step)
}
