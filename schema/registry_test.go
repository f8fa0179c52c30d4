package schema_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// Every payload struct of this package is registered, and every event type has a constant.
func TestRegistryIsWhole(t *testing.T) {
	t.Parallel()
	payloads, names := map[string]bool{}, map[string]bool{}
	for _, eventType := range schema.EventTypes() {
		payloads[eventType.Payload()], names[eventType.Name] = true, true
		require.NotEmpty(t, eventType.Meaning, "%s: say in registry.go what it means", eventType.Name)
		require.NotEmpty(t, eventType.Keys, "%s: give it the pattern of its key in registry.go", eventType.Name)
		require.Contains(t, eventType.Stream(), "{", "%s: the pattern of the stream", eventType.Name)
		require.Equal(t, eventType.Payload(), camel(eventType.Name)+"Payload", "a payload is named after its event type")
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && strings.HasSuffix(spec.Name.Name, "Payload") {
				require.True(t, payloads[spec.Name.Name], "%s is the payload of no registered event type: add it to registry.go", spec.Name.Name)
			}
			return true
		})
	}
}

func camel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func TestEventsKeepTheirPayload(t *testing.T) {
	t.Parallel()
	for _, eventType := range schema.EventTypes() {
		given := eventType.NewPayload()
		require.NoError(t, json.Unmarshal([]byte(`{}`), given))
		decoded, err := schema.DecodePayload(schema.Event{Type: eventType.Name, Payload: []byte(`{}`)})
		require.NoError(t, err)
		e, err := schema.NewEvent(decoded, schema.Event{DedupeKey: "k"})
		require.NoError(t, err)
		require.Equal(t, eventType.Name, e.Type)
		again, err := schema.DecodePayload(e)
		require.NoError(t, err)
		require.Equal(t, decoded, again)
	}
	e, err := schema.NewEvent(schema.FactDeletedPayload{FactID: "fact_1"}, schema.Event{DedupeKey: "k", Actor: "ann"})
	require.NoError(t, err)
	require.Equal(t, schema.Event{Type: schema.FactDeleted, DedupeKey: "k", Actor: "ann", Payload: e.Payload}, e)
	p, err := schema.Decode[schema.FactDeletedPayload](e)
	require.NoError(t, err)
	require.Equal(t, "fact_1", p.FactID)
	e.ID = "id"
	_, err = schema.Decode[schema.FactCreatedPayload](e)
	require.EqualError(t, err, `decode event "id": its type is "fact_deleted", and a schema.FactCreatedPayload is the payload of "fact_created"`)
	_, err = schema.NewEvent(schema.Entry{}, e)
	require.EqualError(t, err, `make event "k": schema.Entry is the payload of no registered type`)
	_, err = schema.DecodePayload(schema.Event{ID: "id", Type: "unknown"})
	require.EqualError(t, err, `decode event "id": type "unknown" is not registered`)
	e.Payload = []byte(`{"fact_id":1}`)
	_, err = schema.Decode[schema.FactDeletedPayload](e)
	require.ErrorContains(t, err, `decode fact_deleted event "id"`)
}

func TestEventTypesOf(t *testing.T) {
	t.Parallel()
	in := func(prefix string) []string {
		var names []string
		for _, eventType := range schema.EventTypes() {
			if eventType.StreamPrefix == prefix {
				names = append(names, eventType.Name)
			}
		}
		return names
	}
	require.Equal(t, in(schema.ProjectPrefix), schema.EventTypesOf[schema.EntityChange]())
	require.Equal(t, in(schema.MemoryPrefix),
		slices.Concat(schema.EventTypesOf[schema.FactChange](), schema.EventTypesOf[schema.TierChange]()))
}

// numberOf returns a number for a numeric part of a key, different for each text.
func numberOf(part string) int {
	sum := sha256.Sum256([]byte(part))
	return int(binary.BigEndian.Uint32(sum[:]))
}

// keyMakers are all functions that make dedupe keys, each called with one string per part.
var keyMakers = map[string]struct {
	parts int
	make  func(parts []string) string
}{
	"SessionIngestedKey": {3, func(p []string) string {
		return schema.SessionIngestedKey(schema.SessionKey{Scope: schema.Scope{Project: p[0]}, SessionID: p[1]}, []schema.Message{{Key: p[2]}})
	}},
	"OriginalSealedKey": {2, func(p []string) string {
		return schema.OriginalSealedKey(schema.SessionKey{SessionID: p[0]}, p[1])
	}},
	"ModelRespondedKey": {1, func(p []string) string { return schema.ModelRespondedKey(p[0]) }},
	"MemoryExtractedKey": {3, func(p []string) string {
		return schema.MemoryExtractedKey(schema.SessionKey{SessionID: p[0]}, p[1], schema.Window{Hash: p[2]})
	}},
	"EvidenceAlignedKey":   {1, func(p []string) string { return schema.EvidenceAlignedKey(p[0], 1) }},
	"EntryMaterializedKey": {1, func(p []string) string { return schema.EntryMaterializedKey(p[0]) }},
	"EntryStatusSetKey":    {2, func(p []string) string { return schema.EntryStatusSetKey(p[0], numberOf(p[1])) }},
	"EntryEvidenceSetKey":  {2, func(p []string) string { return schema.EntryEvidenceSetKey(p[0], p[1], 7) }},
	"IdrisCheckedKey": {5, func(p []string) string {
		return schema.IdrisCheckedKey(schema.SessionKey{SessionID: p[0]}, p[1], p[2], schema.CheckStatus(p[3]), uint64(numberOf(p[4])))
	}},
	"EntriesPromotedKey": {4, func(p []string) string {
		return schema.EntriesPromotedKey(schema.SessionKey{SessionID: p[0]}, []schema.Promotion{{EntryID: p[1], To: schema.Stage(p[2]), Number: numberOf(p[3])}})
	}},
	"SessionGraduatedKey": {5, func(p []string) string {
		return schema.SessionGraduatedKey(schema.SessionGraduatedPayload{
			SessionKey: schema.SessionKey{SessionID: p[0]}, Seq: uint64(numberOf(p[1])), Head: uint64(numberOf(p[2])), Policy: numberOf(p[3]), Rule: numberOf(p[4]),
		})
	}},
	"GraduationKey":        {4, func(p []string) string { return schema.GraduationKey(p[0], p[1], p[2], uint64(numberOf(p[3]))) }},
	"PairsAskedKey":        {2, func(p []string) string { return schema.PairsAskedKey(p[0], p[1]) }},
	"PairsJudgedKey":       {2, func(p []string) string { return schema.PairsJudgedKey(p[0], p[1]) }},
	"EntryAnsweredKey":     {3, func(p []string) string { return schema.EntryAnsweredKey(p[0], p[1], p[2]) }},
	"DecisionRecordedKey":  {2, func(p []string) string { return schema.DecisionRecordedKey(p[0], p[1]) }},
	"GraduateOfCommandKey": {2, func(p []string) string { return schema.GraduateOfCommandKey(p[0], p[1], numberOf(p[1])) }},
	"ChangeProposedKey":    {1, func(p []string) string { return schema.ChangeProposedKey(p[0]) }},
	"ProposalDecidedKey":   {1, func(p []string) string { return schema.ProposalDecidedKey(p[0]) }},
	"EntriesRetrievedKey":  {2, func(p []string) string { return schema.EntriesRetrievedKey(p[0], p[1]) }},
	"BuildStartedKey":      {1, func(p []string) string { return schema.BuildStartedKey(p[0]) }},
	"BuildFinishedKey":     {1, func(p []string) string { return schema.BuildFinishedKey(p[0]) }},
	"VectorIndexedKey":     {3, func(p []string) string { return schema.VectorIndexedKey(p[0], p[1:]) }},
	"VectorFailedKey":      {3, func(p []string) string { return schema.VectorFailedKey(p[0], p[1:]) }},
	"VectorDriftedKey":     {3, func(p []string) string { return schema.VectorDriftedKey(p[0], p[1:]) }},
	"EmbedderKey":          {3, func(p []string) string { return schema.EmbedderKey(p[0], p[1], uint64(numberOf(p[2]))) }},
	"ContextEnqueuedKey":   {3, func(p []string) string { return schema.ContextEnqueuedKey(p[0], p[1], p[2]) }},
	"ContextProcessedKey": {3, func(p []string) string {
		return schema.ContextProcessedKey(p[0], p[1], uint64(numberOf(p[2])))
	}},
	"ContextHeldKey": {2, func(p []string) string { return schema.ContextHeldKey(schema.SessionKey{SessionID: p[0]}, p[1]) }},
	"BatchListedKey": {2, func(p []string) string { return schema.BatchListedKey(p[0], numberOf(p[1])) }},
	"BatchReportedKey": {2, func(p []string) string {
		return schema.BatchReportedKey(p[0], []schema.BatchOutcome{{Index: numberOf(p[1])}})
	}},
	"EntityKey": {2, func(p []string) string {
		return schema.EntityKey(p[0], schema.EntityRef{Type: schema.EntityTask, ID: p[1]})
	}},
	"EntityKey condition": {2, func(p []string) string {
		return schema.EntityKey(p[0], schema.EntityRef{Type: schema.EntityCondition, ID: p[1]})
	}},
	"EntityKey artifact": {2, func(p []string) string {
		return schema.EntityKey(p[0], schema.EntityRef{Type: schema.EntityArtifact, ID: p[1]})
	}},
	"TaskOfEntryKey":        {3, func(p []string) string { return schema.TaskOfEntryKey(p[0], p[1], p[2]) }},
	"TaskOfEntryKey of two": {4, func(p []string) string { return schema.TaskOfEntryKey(p[0], p[1], p[2], p[3]) }},
	"TaskOfCommandKey":      {2, func(p []string) string { return schema.TaskOfCommandKey(p[0], p[1], 3) }},
	"FactOfEntryKey":        {3, func(p []string) string { return schema.FactOfEntryKey(p[0], p[1], p[2]) }},
	"FactOfCommandKey":      {3, func(p []string) string { return schema.FactOfCommandKey(p[0], p[1], p[2]) }},
	"FactOfImportKey":       {4, func(p []string) string { return schema.FactOfImportKey(p[0], p[1], p[2], p[3]) }},
	"FactOfClearedKey":      {4, func(p []string) string { return schema.FactOfClearedKey(p[0], p[1], p[2], p[3]) }},
	"FactOfReviewKey":       {4, func(p []string) string { return schema.FactOfReviewKey(p[0], p[1], p[2], p[3]) }},
	"FactEvictedKey of an import": {5, func(p []string) string {
		return schema.FactEvictedKey(schema.FactOfImportKey(p[0], p[1], p[2], p[3]), p[4])
	}},
	"FactEvictedKey": {4, func(p []string) string {
		return schema.FactEvictedKey(schema.FactOfEntryKey(p[0], p[1], p[2]), p[3])
	}},
	"FactEvictedKey of a command": {4, func(p []string) string {
		return schema.FactEvictedKey(schema.FactOfCommandKey(p[0], p[1], p[2]), p[3])
	}},
	"ContextFlushedKey": {2, func(p []string) string {
		return schema.ContextFlushedKey(schema.SessionKey{Scope: schema.Scope{Project: p[0]}, SessionID: p[1]}, 3, 7)
	}},
	"FactsShownKey": {3, func(p []string) string {
		return schema.FactsShownKey(schema.SessionKey{SessionID: p[0]}, numberOf(p[1]), numberOf(p[2]))
	}},
	"RecordEditedKey": {4, func(p []string) string {
		return schema.RecordEditedKey(p[0], p[1], schema.RecordKind(p[2]), p[3], 1)
	}},
	"CoreOfDreamKey":     {2, func(p []string) string { return schema.CoreOfDreamKey(p[0], p[1], 1) }},
	"CoreOfEditKey":      {2, func(p []string) string { return schema.CoreOfEditKey(p[0], p[1], 1) }},
	"CoreOfCommandKey":   {3, func(p []string) string { return schema.CoreOfCommandKey(p[0], p[1], p[2]) }},
	"DreamFinishedKey":   {2, func(p []string) string { return schema.DreamFinishedKey(p[0], p[1], 1) }},
	"RebuildFinishedKey": {1, func(p []string) string { return schema.RebuildFinishedKey(p[0]) }},
	"ErasureKey":         {3, func(p []string) string { return schema.ErasureKey(p[0], p[1], numberOf(p[2])) }},
	"EventErasedKey":     {3, func(p []string) string { return schema.EventErasedKey(p[0], p[1], uint64(numberOf(p[2]))) }},
	"DreamGatheredKey":   {1, func(p []string) string { return schema.DreamGatheredKey(p[0]) }},
}

// No two acts share a key, whatever their names contain. The log accepts every key, and each fits a pattern of the
// registry. The second act often differs from the first in one part, which reveals a part that the key leaves out.
func TestDedupeKeysNeverCollide(t *testing.T) {
	t.Parallel()
	var patterns []*regexp.Regexp
	for _, eventType := range schema.EventTypes() {
		for _, key := range eventType.Keys {
			patterns = append(patterns, keyPattern(key))
		}
	}
	names := make([]string, 0, len(keyMakers))
	for name := range keyMakers {
		names = append(names, name)
	}
	slices.Sort(names)
	file, err := parser.ParseFile(token.NewFileSet(), "dedupe.go", nil, 0)
	require.NoError(t, err)
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.IsExported() {
			require.NotZero(t, keyMakers[f.Name.Name].parts, "add %s to keyMakers", f.Name.Name)
		}
	}
	for _, pattern := range patterns {
		require.True(t, slices.ContainsFunc(names, func(name string) bool {
			return pattern.MatchString(keyMakers[name].make(slices.Repeat([]string{"x"}, keyMakers[name].parts)))
		}), "no function of keyMakers gives a key that fits %s: add it to dedupe.go", pattern)
	}
	part := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "/", "a/b", "%", "%2F", "entry", "command", "\x00", "\xff", "\n", "한국"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) (string, []string, string) {
			name := rapid.SampledFrom(names).Draw(t, label)
			parts := rapid.SliceOfN(part, keyMakers[name].parts, keyMakers[name].parts).Draw(t, label+" parts")
			return name, parts, keyMakers[name].make(slices.Clone(parts))
		}
		name1, parts1, key1 := draw("first")
		name2, parts2, key2 := draw("second")
		if rapid.Bool().Draw(t, "neighbours") {
			name2, parts2 = name1, slices.Clone(parts1)
			parts2[rapid.IntRange(0, len(parts2)-1).Draw(t, "other part")] = part.Draw(t, "other")
			key2 = keyMakers[name2].make(slices.Clone(parts2))
		}
		same := name1 == name2 && slices.Equal(parts1, parts2)
		if (key1 == key2) != same {
			t.Fatalf("%s%q gives %q, %s%q gives %q", name1, parts1, key1, name2, parts2, key2)
		}
		if !utf8.ValidString(key1) || strings.ContainsRune(key1, 0) {
			t.Fatalf("the log takes no key %q", key1)
		}
		if !slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(key1) }) {
			t.Fatalf("%s gives %q, which fits no pattern of the registry", name1, key1)
		}
	})
}

// The log accepts the key of every act with the longest possible names, all of whose bytes are escaped.
func TestDedupeKeysFit(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("%", schema.MaxNameBytes)
	require.NoError(t, schema.CheckName("name", name))
	for maker, k := range keyMakers {
		parts := make([]string, k.parts)
		for i := range parts {
			parts[i] = name
		}
		require.LessOrEqual(t, len(k.make(parts)), schema.MaxDedupeKeyBytes, maker)
	}
}

// keyPattern matches the keys of the pattern. A change has one part or several, and all others one.
func keyPattern(key string) *regexp.Regexp {
	return regexp.MustCompile("^" + regexp.MustCompile(`\{[^}]*\}`).ReplaceAllStringFunc(key, func(name string) string {
		if name == "{change}" {
			return ".*"
		}
		return "[^/]*"
	}) + "$")
}
