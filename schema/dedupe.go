package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The dedupe keys of all events. A key names the act, not the attempt: the same act gives the same key, and
// another act another one. Each pattern is what [EventType.Keys] shows and what the functions below fill in.
const (
	keySessionIngested   = "session_ingested/{hash of the session and of the messages' keys}"
	keyModelResponded    = "model_responded/{hash of all that went into the call}"
	keyMemoryExtracted   = "memory_extracted/{hash of the session, the extractor and the window}"
	keyEvidenceAligned   = "evidence_aligned/{extracted event}/{rule}"
	keyEntryMaterialized = "entry_materialized/{entry}"
	keyEntryEvidenceSet  = "entry_evidence_set/{entry}/{aligned event}/{index}"
	keyBuildStarted      = "build_started/{build}"
	keyBuildFinished     = "build_finished/{build}"

	keyVectorIndexed = "vector_indexed/{collection}/{hash of the items and their states}"
	keyVectorFailed  = "vector_failed/{collection}/{hash of the items and their states}"
	keyVectorDrifted = "vector_drifted/{collection}/{hash of the items and their states}"

	// An entity is declared once, whoever does it first.
	keyTask      = "task/{project}/task/{task}"
	keyCondition = "task/{project}/condition/{condition}"
	keyArtifact  = "task/{project}/artifact/{artifact}"
	// One entry changes a task in several ways, each of them once.
	keyTaskOfEntry = "task/{project}/entry/{entry}"
	keyTaskChange  = "/{change}"
	// A command is done whole or not at all: its events are counted from 0.
	keyTaskOfCommand = "task/{project}/command/{request}/{number}"

	// One event says what became of an entry or a command, and one of each fact that made room.
	keyFactOfEntry   = "fact/{user}/{agent}/entry/{entry}"
	keyFactOfCommand = "fact/{user}/{agent}/command/{request}"
	keyFactEvicted   = "/evicted/{fact}"
)

// SessionIngestedKey is the key of the session_ingested event that holds the messages.
func SessionIngestedKey(session SessionKey, messages []Message) string {
	keys := make([]string, len(messages))
	for i, m := range messages {
		keys[i] = m.Key
	}
	return fillKey(keySessionIngested, HashParts(session.Stream(), HashParts(keys...)))
}

// ModelRespondedKey is the key of the answer to the call with the hash.
func ModelRespondedKey(callHash string) string { return fillKey(keyModelResponded, callHash) }

// MemoryExtractedKey is the key of what an extractor read in a window. A window without a whole answer is asked
// about again: each time is an act of its own.
func MemoryExtractedKey(session SessionKey, extractorID string, w Window) string {
	place := fmt.Sprint(w.First, w.ByteStart, w.Asked)
	return fillKey(keyMemoryExtracted, HashParts(session.Stream(), extractorID, w.Hash, place))
}

// EvidenceAlignedKey is the key of the judgement of an extraction's quotes under a version of the rule of proof.
func EvidenceAlignedKey(extractedEventID string, rule int) string {
	return fillKey(keyEvidenceAligned, extractedEventID, strconv.Itoa(rule))
}

// EntryMaterializedKey is the key of the event that makes the entry: an entry is immutable.
func EntryMaterializedKey(entryID string) string { return fillKey(keyEntryMaterialized, entryID) }

// EntryEvidenceSetKey is the key of the judgement that the entry takes from the evidence_aligned event, which
// judges the extracted entry at the index.
func EntryEvidenceSetKey(entryID, alignedEventID string, index int) string {
	return fillKey(keyEntryEvidenceSet, entryID, alignedEventID, strconv.Itoa(index))
}

// BuildStartedKey is the key of the event that opens the build.
func BuildStartedKey(buildID string) string { return fillKey(keyBuildStarted, buildID) }

// BuildFinishedKey is the key of the event that closes the build.
func BuildFinishedKey(buildID string) string { return fillKey(keyBuildFinished, buildID) }

// VectorIndexedKey is the key of the event that says that items were written. Each state of an item names the
// item and how its outbox row stood before, so that another attempt at the same rows is the same act.
func VectorIndexedKey(collection string, states []string) string {
	return fillKey(keyVectorIndexed, collection, HashParts(states...))
}

// VectorFailedKey is [VectorIndexedKey] of items that could not be written.
func VectorFailedKey(collection string, states []string) string {
	return fillKey(keyVectorFailed, collection, HashParts(states...))
}

// VectorDriftedKey is [VectorIndexedKey] of items that are to be written anew.
func VectorDriftedKey(collection string, states []string) string {
	return fillKey(keyVectorDrifted, collection, HashParts(states...))
}

// EntityKey is the key of the event that declares the entity.
func EntityKey(project string, entity EntityRef) string {
	pattern := map[EntityType]string{EntityTask: keyTask, EntityCondition: keyCondition, EntityArtifact: keyArtifact}[entity.Type]
	return fillKey(pattern, project, entity.ID)
}

// TaskOfEntryKey is the key of one change of a task that follows from the entry. The parts of the change tell it
// from the entry's other changes.
func TaskOfEntryKey(project, entryID string, change ...string) string {
	key := fillKey(keyTaskOfEntry, project, entryID)
	for _, part := range change {
		key += fillKey(keyTaskChange, part)
	}
	return key
}

// TaskOfCommandKey is the key of the nth event of a command, from 0. Once the first is stored, all are.
func TaskOfCommandKey(project, requestID string, n int) string {
	return fillKey(keyTaskOfCommand, project, requestID, strconv.Itoa(n))
}

// FactOfEntryKey is the key of the one event that says what became of an entry.
func FactOfEntryKey(user, agent, entryID string) string {
	return fillKey(keyFactOfEntry, user, agent, entryID)
}

// FactOfCommandKey is the key of the one event that says what became of a command.
func FactOfCommandKey(user, agent, requestID string) string {
	return fillKey(keyFactOfCommand, user, agent, requestID)
}

// FactEvictedKey is the key of the event that takes the fact away in favour of what the act brings, which has a
// key of [FactOfEntryKey] or [FactOfCommandKey].
func FactEvictedKey(actKey, factID string) string { return actKey + fillKey(keyFactEvicted, factID) }

// fillKey puts the values in the place of the names in braces. Values are escaped, so that no two lists of values
// give one key.
func fillKey(pattern string, values ...string) string {
	var b strings.Builder
	for _, value := range values {
		before, rest, _ := strings.Cut(pattern, "{")
		_, after, found := strings.Cut(rest, "}")
		if !found {
			panic(fmt.Sprintf("fill dedupe key: %d values are more than the pattern has names", len(values)))
		}
		b.WriteString(before)
		b.WriteString(escapePart(value))
		pattern = after
	}
	if strings.Contains(pattern, "{") {
		panic(fmt.Sprintf("fill dedupe key: %d values are fewer than the pattern has names", len(values)))
	}
	b.WriteString(pattern)
	return b.String()
}

// escapePart percent-encodes the slashes and percent signs of a value, and the bytes that no key may hold.
func escapePart(value string) string {
	if !strings.ContainsFunc(value, unsafeInKey) && utf8.ValidString(value) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRuneInString(value[i:])
		if unsafeInKey(r) || r == utf8.RuneError && size == 1 {
			for _, c := range []byte(value[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(value[i : i+size])
		}
		i += size
	}
	return b.String()
}

func unsafeInKey(r rune) bool { return r == '/' || r == '%' || unicode.IsControl(r) }
