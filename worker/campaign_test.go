//go:build campaign

package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/erase/erasetest"
	"axiommind/schema"
)

// The tests of this file have the whole of that of which the tests of the same names have a sample.
//
//	go test -tags campaign -run TestCampaign ./worker -v -timeout 2h

func TestCampaignI2KilledWorker(t *testing.T) {
	t.Parallel()
	killedWorker(t, sessionSteps)
}

func TestCampaignI2KilledHalving(t *testing.T) {
	t.Parallel()
	killedHalving(t, askingSteps)
}

func TestCampaignI1ImportAtOnce(t *testing.T) {
	t.Parallel()
	importAtOnce(t, 12, 6)
}

func TestCampaignI2KilledDuringImport(t *testing.T) {
	t.Parallel()
	killedDuringImport(t, 10, 1, 5)
}

// AXIOMMIND_QUEUE_KEYS and AXIOMMIND_QUEUE_CONTEXTS say how many sessions and contexts there are.
func TestCampaignI2QueueKilledWorker(t *testing.T) {
	t.Parallel()
	queueKilledWorker(t, queueLoad{
		keys: fromVariable(t, "AXIOMMIND_QUEUE_KEYS", 12), contexts: fromVariable(t, "AXIOMMIND_QUEUE_CONTEXTS", 60), kills: 5, life: 2 * time.Second, sending: 15 * time.Second,
	})
}

func TestCampaignI3EveryProjection(t *testing.T) {
	t.Parallel()
	everyProjection(t, 3, "TRUNCATE TABLE %s", "DROP TABLE IF EXISTS %s SYNC")
}

func TestCampaignI4RebuildDuringSessions(t *testing.T) {
	t.Parallel()
	rebuildDuringSessions(t, 4, 3)
}

func TestCampaignI2RebuildKilled(t *testing.T) {
	t.Parallel()
	rebuildKilled(t, 3, rebuildSteps)
}

func TestCampaignStopDuringImport(t *testing.T) {
	t.Parallel()
	stopDuringImport(t, 40)
}

func TestCampaignReplayRules(t *testing.T) {
	t.Parallel()
	replayRules(t, 3)
}

func TestCampaignReplayAnswers(t *testing.T) {
	t.Parallel()
	replayAnswers(t, 4)
}

func TestCampaignI2BackfillWithAnotherModel(t *testing.T) {
	t.Parallel()
	backfillWithAnotherModel(t, 3, 9)
}

func TestCampaignSessionEndsFact(t *testing.T) {
	t.Parallel()
	sessionEndsFact(t, 2)
}

func TestCampaignSeed12_3Idempotency(t *testing.T) {
	t.Parallel()
	idempotency(t, 100)
}

func TestCampaignI6ManySessionsOneProject(t *testing.T) {
	t.Parallel()
	manySessionsOneProject(t, 60)
}

func TestCampaignConcurrentFactCommands(t *testing.T) {
	t.Parallel()
	concurrentFactCommands(t, 50)
}

func TestCampaignRefusedEmbedderEndsIndex(t *testing.T) {
	t.Parallel()
	refusedEmbedderEndsIndex(t, refusals)
}

func TestCampaignFixtures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	all, _ := b.fixtures(t)
	fixtures(t, b, all)
}

func TestCampaignI9RawMessagesAreKeptEncrypted(t *testing.T) {
	t.Parallel()
	rawMessagesAreKeptEncrypted(t, 60)
}

func TestCampaignI9NoSecretIsStoredAnywhere(t *testing.T) {
	t.Parallel()
	cases := secretCases(t)
	noSecretIsStoredAnywhere(t, cases, len(cases))
}

// AXIOMMIND_NIGHT_USERS says how many users are dreamt of.
func TestCampaignNight(t *testing.T) {
	t.Parallel()
	nightOf(t, fromVariable(t, "AXIOMMIND_NIGHT_USERS", 100), 8)
}

func TestCampaignI8PoisonedTranscripts(t *testing.T) {
	t.Parallel()
	poisonedTranscripts(t, fromVariable(t, poisonFiles, 50), 10)
}

func TestCampaignI8PoisonedInputs(t *testing.T) {
	t.Parallel()
	poisonedInputs(t, fromVariable(t, poisonPayloads, 50))
}

func TestCampaignRebuildAtScale(t *testing.T) {
	rebuildAtScale(t, 6, 8, 2000, fromVariable(t, "AXIOMMIND_REBUILD_EVENTS", 20_000))
}

// AXIOMMIND_FAULT_SECONDS says how long a fault lasts.
func TestCampaignI8FaultMatrix(t *testing.T) {
	t.Parallel()
	faultMatrix(t, faults(), 3)
}

func TestCampaignI8MoodyModel(t *testing.T) {
	t.Parallel()
	moodyModel(t, 20)
}

// AXIOMMIND_CRASH_RUNS says how many crashes there are.
func TestCampaignI2CrashMatrix(t *testing.T) {
	t.Parallel()
	crashMatrix(t, newSite(t), 20, fromVariable(t, crashRuns, 4), victims...)
}

func TestCampaignForgetSession(t *testing.T) {
	t.Parallel()
	forgetSession(t, newForgetting(t, newSite(t)))
}

func TestCampaignI2ForgetKilled(t *testing.T) {
	t.Parallel()
	forgetKilled(t, 300*time.Millisecond, 4*time.Second, 0)
}

// A session is forgotten in a log of 10^5 events, which is indexed, although the worker is killed as it deletes.
func TestCampaignI2ForgetLarge(t *testing.T) {
	f := newForgetting(t, nil)
	events := erasetest.Fill(t, f.Log.Store, 410)
	asked := &counter{}
	f.cfg.ClickHouseDSN = asked.before(t, f.cfg.ClickHouseDSN)
	worker := buildWorker(t, f.bench)
	w := worker.launch(t)
	defer func() { w.kill() }()
	began := time.Now()
	for _, in := range []schema.RebuildInput{{}, {Collections: true}} {
		run, err := f.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: schema.RebuildWorkflowID, TaskQueue: schema.QueueMain}, schema.WorkflowRebuild, in)
		require.NoError(t, err)
		require.NoError(t, run.Get(t.Context(), nil))
	}
	var waiting, vectors uint64
	require.Eventually(t, func() bool {
		err := f.ClickHouse.QueryRow(t.Context(), "SELECT countIf(status != 'done'), countIf(status = 'done') FROM vector_outbox").Scan(&waiting, &vectors)
		return err == nil && waiting == 0 && vectors > 0
	}, 20*time.Minute, 5*time.Second)
	t.Logf("%d events: tables and %d vectors made in %.0f s, with %d requests to ClickHouse", events, vectors, time.Since(began).Seconds(), asked.n.Swap(0))

	killed := make(chan struct{})
	go func() {
		defer close(killed)
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		for rows := uint64(0); rows == 0 && t.Context().Err() == nil; <-look.C {
			_ = f.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM erasing_raw").Scan(&rows)
		}
		w.kill()
		w = worker.launch(t)
	}()
	began = time.Now()
	result, err := f.forget(t.Context(), t, "erasure-large", schema.ErasureScope{Project: "p", User: "u", SessionID: "session-3"})
	require.NoError(t, err)
	<-killed
	require.Empty(t, result.Left)
	require.Equal(t, 1, result.Sessions)
	require.Equal(t, 100, result.Messages)
	t.Logf("forgotten after %.0f s, with a kill of the worker and %d requests to ClickHouse: %+v", time.Since(began).Seconds(), asked.n.Swap(0), result)
	t.Log("survived: worker killed while a session of 10^5 events was forgotten")
}

// All retries: each leaves the same rows as a rebuild from the log.
func TestCampaignRetry(t *testing.T) {
	t.Parallel()
	for name, test := range retries {
		t.Run(name, test)
	}
}

func TestCampaignGivenUp(t *testing.T) { testGivenUp(t) }

func TestCampaignI1StatementIsOneAct(t *testing.T) { TestI1StatementIsOneAct(t) }

func TestCampaignHalvedUntilAnswered(t *testing.T) { TestHalvedUntilAnswered(t) }

func TestCampaignI9NoSecretOfAModelsServer(t *testing.T) { TestI9NoSecretOfAModelsServer(t) }

func TestCampaignWorkerRole(t *testing.T) { TestWorkerRole(t) }

func TestCampaignRebuildVectorsWhileSessionsWait(t *testing.T) {
	t.Parallel()
	rebuildVectorsWhileSessionsWait(t, 3, 3)
}

func TestCampaignTwoRebuilds(t *testing.T) {
	t.Parallel()
	twoRebuilds(t)
	t.Log("survived: two rebuilds at once")
}

func TestCampaignForgetQueryAndProject(t *testing.T) {
	t.Parallel()
	forgetQueryAndProject(t)
	t.Log("survived: a text and a project forgotten while others keep theirs")
}

func TestCampaignAnotherEmbedder(t *testing.T) {
	t.Parallel()
	anotherEmbedder(t)
	t.Log("survived: a change of the embedder beside sessions and searches")
}

func TestCampaignFactsDeletedDuringExtraction(t *testing.T) {
	t.Parallel()
	factsDeletedDuringExtraction(t)
	t.Log("survived: facts deleted while a session is extracted")
}

func TestCampaignFailuresAreNotShared(t *testing.T) { testFailuresAreNotShared(t) }

func TestCampaignGivenUpInAnEarlierBuild(t *testing.T) { testGivenUpInAnEarlierBuild(t) }

func TestCampaignTwoBuildsOfTheWorker(t *testing.T) { testTwoBuildsOfTheWorker(t) }

func TestCampaignWorkerWithoutTheKeyFailsNothing(t *testing.T) {
	testWorkerWithoutTheKeyFailsNothing(t)
}

func TestCampaignReplayOlderPrompt(t *testing.T) { testReplayOlderPrompt(t) }

func TestCampaignRolesAreSQL(t *testing.T) { testRolesAreSQL(t) }

func TestCampaignI9NoSecretInNamesAndErrors(t *testing.T) { testI9NoSecretInNamesAndErrors(t) }

func TestCampaignI2KilledBetweenCommitAndFile(t *testing.T) { testI2KilledBetweenCommitAndFile(t) }

func TestCampaignStoppedWorkerEndsItsCalls(t *testing.T) { testStoppedWorkerEndsItsCalls(t) }

func TestCampaignGracefulStop(t *testing.T) { testGracefulStop(t) }

func TestCampaignRunningBuildIsSeen(t *testing.T) { testRunningBuildIsSeen(t) }

func TestCampaignWriterOfAnotherEmbedder(t *testing.T) { testWriterOfAnotherEmbedder(t) }

func TestCampaignRefusedEmbedderEndsTasks(t *testing.T) { testRefusedEmbedderEndsTasks(t) }
