package retrieve

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/vector"
	"axiommind/schema"
)

func TestSearchFindsByWords(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	var entries []schema.Entry
	for _, title := range []string{
		"We decided to use PostgreSQL for the billing service.",
		"Deploys are frozen on Fridays after 15:00.",
		"The parser of C++ headers crashes on empty files.",
		"The parser of C# attributes is slow.",
		"The user prefers tabs over spaces.",
		"Rotate the API key of the payment gateway every 90 days.",
		"client.go retries 429 responses three times.",
		"배포는 금요일 오후에 하지 않는다.",
		"데이터베이스를 PostgreSQL로 옮기기로 결정했다.",
		"사용자는 어두운 테마를 좋아한다.",
		"결제 서버의 인증서가 다음 달에 만료된다.",
		"我们决定使用消息队列处理订单。",
		"用户喜欢简洁的回答。",
		"支付网关的密钥每九十天轮换一次。",
		"登录页面在安卓手机上崩溃。",
		"デプロイは金曜日に行わない。",
	} {
		entries = append(entries, schema.Entry{Title: title})
	}
	b.add(t, entries...)
	for query, want := range map[string]string{
		"which database does billing use":   "We decided to use PostgreSQL for the billing service.",
		"when are we not allowed to deploy": "Deploys are frozen on Fridays after 15:00.",
		"C++ crash":                         "The parser of C++ headers crashes on empty files.",
		"C# slow parsing":                   "The parser of C# attributes is slow.",
		"indentation preference tabs":       "The user prefers tabs over spaces.",
		"api keys rotation":                 "Rotate the API key of the payment gateway every 90 days.",
		"client.go":                         "client.go retries 429 responses three times.",
		"배포를 언제 안 하나요?":                     "배포는 금요일 오후에 하지 않는다.",
		"데이터베이스 이전":                         "데이터베이스를 PostgreSQL로 옮기기로 결정했다.",
		"테마":                                "사용자는 어두운 테마를 좋아한다.",
		"인증서 만료":                            "결제 서버의 인증서가 다음 달에 만료된다.",
		"消息队列":                              "我们决定使用消息队列处理订单。",
		"用户喜欢什么样的回答":                        "用户喜欢简洁的回答。",
		"密钥多久轮换":                            "支付网关的密钥每九十天轮换一次。",
		"安卓登录崩溃":                            "登录页面在安卓手机上崩溃。",
		"金曜日のデプロイ":                          "デプロイは金曜日に行わない。",
		"ＰｏｓｔｇｒｅＳＱＬ　ｂｉｌｌｉｎｇ":                     "We decided to use PostgreSQL for the billing service.",
		"\"}) { drop } tabs \\ \n {user} spaces": "The user prefers tabs over spaces.",
	} {
		result := b.search(t, Query{Text: query, Limit: 3})
		require.NotEmpty(t, result.Hits, query)
		require.Equal(t, want, result.Hits[0].Title, "%q found %q", query, titles(result.Hits))
	}
}

func TestHitShowsEvidenceAndExplainsItself(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	confidence := 0.8
	b.add(t,
		schema.Entry{Title: "Redis caches the sessions.", Content: "It evicts by LRU.", Confidence: &confidence, Stage: schema.StageVerified},
		schema.Entry{Title: "Redis was proposed for the queue.", Status: schema.StatusContested, OccurredAt: start.AddDate(-1, 0, 0)},
		schema.Entry{Title: "The queue is slow."},
	)
	result := b.search(t, Query{Text: "Redis sessions queue"})
	require.Len(t, result.Hits, 3)
	require.Equal(t, 3, result.Candidates)
	require.Positive(t, result.Took)
	for _, h := range result.Hits {
		e := h.Explain
		require.InDelta(t, h.Score, e.Hybrid*e.StageWeight*e.StatusPenalty*e.Recency*e.Corroboration, 1e-12)
		require.InDelta(t, e.Hybrid, e.Vector+e.Keyword, 1e-5, "%+v", e)
		require.Equal(t, h.Title, h.Evidence[0].Text)
		require.Equal(t, 3, h.Evidence[0].MessageIndex)
		require.Equal(t, "s1", h.SessionID)
		require.True(t, h.EvidenceAligned)
	}
	first := result.Hits[0]
	require.Equal(t, "It evicts by LRU.", first.Content)
	require.Equal(t, confidence, *first.Confidence)
	require.InDelta(t, 0.97, first.Explain.StageWeight, 0)
}

// A hit whose entry gained its evidence in another session names that one, and is ranked by it.
func TestHitShowsEvidenceOfAnotherSession(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	entries := b.add(t, schema.Entry{Title: "Redis caches."}, schema.Entry{Title: "The queue is slow.", SessionID: "s2"})
	payload, err := json.Marshal(schema.EntryEvidenceSetPayload{
		EntryID: entries[0].ID, ExtractedEventID: "x", EvidenceAligned: true, EvidenceProven: true, Rule: 1,
		Evidence: []schema.Evidence{{Quote: "Redis caches!", Text: "Redis caches!", Found: true, Aligned: true, Proven: true, MessageIndex: 9}},
	})
	require.NoError(t, err)
	other := entries[1].Session()
	_, err = b.log.AppendAll(t.Context(), other.Stream(), []schema.Event{{
		Type: schema.EntryEvidenceSet, TS: start, Actor: "test", SessionID: "s2", Project: "red", DedupeKey: "gained", Payload: payload,
	}})
	require.NoError(t, err)
	_, err = b.log.Project(t.Context(), entry.NewProjector(b.conn), other.Stream())
	require.NoError(t, err)
	result := b.search(t, Query{Text: "Redis queue"})
	require.Len(t, result.Hits, 2)
	for _, h := range result.Hits {
		gained := h.ID == entries[0].ID
		require.Equal(t, gained, h.EvidenceProven)
		require.Equal(t, "s2", h.EvidenceSessionID)
		require.Equal(t, gained, h.SessionID == "s1")
		require.Equal(t, gained, h.Stage == schema.StageWorking)
		require.Equal(t, gained, h.Evidence[0].MessageIndex == 9)
		require.Equal(t, h.EvidenceSessionID, h.Sessions[0].EvidenceSessionID)
		require.Equal(t, h.EvidenceProven, h.Sessions[0].EvidenceProven)
	}
}

// I10: no read crosses a project or a user, whatever the vector store contains.
func TestNoReadCrossesProjectOrUser(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	projects, users := []string{"red", "Red", "red "}, []string{"", "ann", "ann ", "Ann", "bob"}
	var entries []schema.Entry
	for i, project := range projects {
		for j, user := range users {
			for n := range 3 {
				entries = append(entries, schema.Entry{
					Title: fmt.Sprintf("shared secret number %d", n), SessionID: fmt.Sprintf("s%d-%d", i, j),
					Scope: schema.Scope{Project: project, User: user, Agent: "a"},
				})
			}
		}
	}
	entries = b.add(t, entries...)
	// A stray copy of another project's and another user's entry, as a bug elsewhere might leave it.
	vectors, err := b.embedder.Embed(t.Context(), []string{entries[0].Title})
	require.NoError(t, err)
	for i, e := range []schema.Entry{entries[len(entries)-1], entries[3]} {
		_, err = b.client.Put(t.Context(), b.writer.Collection(), "red", []vector.Object{{
			ID: schema.DerivedID("stray", fmt.Sprint(i)), Vector: vectors[0], Properties: map[string]any{
				schema.PropertyItemKind: schema.ItemEntry, schema.PropertyItemID: e.ID, schema.PropertyUser: "bob",
				schema.PropertyTerms: "share secret number 0", schema.PropertyAgent: "a",
			},
		}})
		require.NoError(t, err)
	}
	for _, project := range projects {
		for _, user := range users {
			result := b.search(t, Query{Text: "shared secret number", Project: project, User: user, Limit: 100})
			require.Len(t, result.Hits, 3, "%q %q", project, user)
			for _, h := range result.Hits {
				require.Equal(t, schema.Scope{Project: project, User: user, Agent: "a"}, h.Scope)
			}
		}
	}
	require.Empty(t, b.search(t, Query{Text: "shared secret", User: "nobody"}).Hits)
	require.Empty(t, b.search(t, Query{Text: "shared secret", Project: "nothing", User: "ann"}).Hits)
	stray := b.search(t, Query{Text: "shared secret number", User: "bob", Limit: 100})
	require.Equal(t, 1, stray.Dropped, "an object of another project has no row here")
	require.Equal(t, 1, stray.Filtered, "an object of another user is ruled out by its row")
}

func TestFilters(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	b.add(t,
		schema.Entry{Title: "note one", Type: schema.EntryFact, OccurredAt: day(-3), SessionID: "s1", Scope: schema.Scope{Agent: "x"}},
		schema.Entry{Title: "note two", Type: schema.EntryDecision, OccurredAt: day(-2), SessionID: "s2", Stage: schema.StageVerified},
		schema.Entry{Title: "note three", Type: schema.EntryInsight, OccurredAt: day(-1), SessionID: "s3", Stage: schema.StageCertified},
	)
	for _, tt := range []struct {
		name string
		q    Query
		want []string
	}{
		{"none", Query{}, []string{"note one", "note two", "note three"}},
		{"types", Query{Types: []schema.EntryType{schema.EntryFact, schema.EntryInsight}}, []string{"note one", "note three"}},
		{"stages", Query{Stages: []schema.Stage{schema.StageVerified, schema.StageCertified}}, []string{"note two", "note three"}},
		{"session", Query{SessionID: "s2"}, []string{"note two"}},
		{"agent", Query{Agent: "x"}, []string{"note one"}},
		{"from is inclusive", Query{From: day(-2)}, []string{"note two", "note three"}},
		{"to is not", Query{To: day(-1)}, []string{"note one", "note two"}},
		{"both", Query{From: day(-2), To: day(-1)}, []string{"note two"}},
		{"nothing", Query{From: day(1)}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.q.Text = "note"
			require.ElementsMatch(t, tt.want, titles(b.search(t, tt.q).Hits))
		})
	}
}

// An entry that a newer extractor no longer states is no hit, and no session of a hit, unless the query asks for it.
func TestSupersededIsLeftOut(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	b.add(t,
		schema.Entry{Title: "the queue is Redis", SessionID: "s1", Status: schema.StatusSuperseded},
		schema.Entry{Title: "the queue is a table", SessionID: "s1"},
		schema.Entry{Title: "the queue is a table", SessionID: "s2", Status: schema.StatusSuperseded},
	)
	found := b.search(t, Query{Text: "the queue is Redis"})
	require.Equal(t, []string{"the queue is a table"}, titles(found.Hits))
	require.Len(t, found.Hits[0].Sessions, 1)
	require.Equal(t, []int{2, 2}, []int{found.Superseded, found.Filtered})
	require.Zero(t, b.search(t, Query{Text: "the queue is Redis", SessionID: "s3"}).Superseded, "of another session")
	all := b.search(t, Query{Text: "the queue is Redis", Superseded: true})
	require.ElementsMatch(t, []string{"the queue is Redis", "the queue is a table"}, titles(all.Hits))
	require.Zero(t, all.Superseded)
	for _, h := range all.Hits {
		require.Len(t, h.Sessions, map[string]int{"the queue is Redis": 1, "the queue is a table": 2}[h.Title])
	}
}

// A rare stage is found at once, though the vector store does not know stages.
func TestRareStageIsFound(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	var entries []schema.Entry
	for i := range 400 {
		entries = append(entries, schema.Entry{Title: fmt.Sprintf("the invoice number %d was paid", i)})
	}
	entries = append(entries, schema.Entry{Title: "gardens were drawn on the back of an invoice", Stage: schema.StageCertified})
	b.add(t, entries...)
	result := b.search(t, Query{Text: "the invoice number was paid", Stages: []schema.Stage{schema.StageCertified}})
	require.Equal(t, []string{"gardens were drawn on the back of an invoice"}, titles(result.Hits))
	require.Equal(t, 1, result.Candidates)
	none := b.search(t, Query{Text: "the invoice number was paid", Stages: []schema.Stage{schema.StageVerified}})
	require.Empty(t, none.Hits)
	require.Zero(t, none.Candidates)
	active := b.search(t, Query{Text: "the invoice number was paid", Statuses: []schema.Status{schema.StatusActive}})
	require.Len(t, active.Hits, DefaultLimit)
	require.Empty(t, b.search(t, Query{Text: "the invoice number was paid", Statuses: []schema.Status{schema.StatusContested}}).Hits)
}

func TestObjectWithoutRowIsDropped(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	entries := b.add(t, schema.Entry{Title: "kept words"}, schema.Entry{Title: "lost words"})
	require.NoError(t, b.conn.Exec(t.Context(), "DELETE FROM entries_raw WHERE entry_id = ?", entries[1].ID))
	result := b.search(t, Query{Text: "words"})
	require.Equal(t, []string{"kept words"}, titles(result.Hits))
	require.Equal(t, 1, result.Dropped)
}

func TestSearchRefusesQueries(t *testing.T) {
	t.Parallel()
	s := NewSearcher(nil, nil, nil, Options{})
	alpha := -0.1
	for name, q := range map[string]Query{
		"text is empty":    {Project: "p"},
		"project is empty": {Text: "x"},
		"limit -1":         {Text: "x", Project: "p", Limit: -1},
		"limit 201":        {Text: "x", Project: "p", Limit: MaxLimit + 1},
		"alpha -0.1":       {Text: "x", Project: "p", Alpha: &alpha},
		"is not before":    {Text: "x", Project: "p", From: start, To: start},
	} {
		_, err := s.Search(context.Background(), q)
		require.ErrorIs(t, err, ErrQuery)
		require.ErrorContains(t, err, name)
	}
}
