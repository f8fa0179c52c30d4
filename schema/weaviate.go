package schema

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Limits of Weaviate v1.35. A class name has up to 255 characters and a tenant name up to 64. Both are used as
// directory names.
const (
	maxClassName  = 200
	maxTenantName = 64
	classPrefix   = "Entry_"
	messagePrefix = "Message_"
)

// messageMark begins the name of an index of messages. No embedding version begins with it.
const messageMark = "messages/"

// MessageIndex returns the version of the index of the messages of sessions. Entries and task titles are in the index
// whose version is the embedding version itself. Each index has a class, an outbox and a vector_writer of its own, so
// that entries do not wait for messages.
func MessageIndex(embeddingVersion string) string { return messageMark + embeddingVersion }

// SplitIndex returns the embedding version of an index, and whether it contains messages.
func SplitIndex(version string) (embeddingVersion string, messages bool) {
	return strings.CutPrefix(version, messageMark)
}

// Indexes returns the versions of all indexes of an embedding version.
func Indexes(embeddingVersion string) []string {
	return []string{embeddingVersion, MessageIndex(embeddingVersion)}
}

// VectorCollection returns the name of the Weaviate class of the index. Different versions have different classes, even
// on a file system that ignores case.
func VectorCollection(version string) string {
	prefix := classPrefix
	version, messages := SplitIndex(version)
	if messages {
		prefix = messagePrefix
	}
	return prefix + safeName(version, maxClassName-len(prefix), "")
}

// ContainsMessages reports whether the collection is one of messages.
func ContainsMessages(collection string) bool { return strings.HasPrefix(collection, messagePrefix) }

// generationMark separates the name of a collection from the number of one of its generations. No name of a collection
// contains it after its prefix and another byte, because there "_" is followed by "_" or a hex digit.
const generationMark = "_g"

// VectorGeneration returns the name of the Weaviate class that is the n-th generation of the collection, from 1. The
// name of the collection itself is an alias of the one in use.
func VectorGeneration(collection string, n int) string {
	return collection + generationMark + strconv.Itoa(n)
}

// SplitGeneration returns the collection and the number of a generation. The number is 0 if the class is no generation.
func SplitGeneration(class string) (collection string, n int) {
	i := strings.LastIndex(class, generationMark)
	prefix := classPrefix
	if ContainsMessages(class) {
		prefix = messagePrefix
	}
	if i <= len(prefix) {
		return class, 0
	}
	number := class[i+len(generationMark):]
	if n, err := strconv.Atoi(number); err == nil && n > 0 && strconv.Itoa(n) == number {
		return class[:i], n
	}
	return class, 0
}

// VectorTenant returns the name of the Weaviate tenant of the project. Different projects have different tenants, even
// on a file system that ignores case.
func VectorTenant(project string) string { return safeName(project, maxTenantName, "-") }

// safeName maps any text to lower-case letters, digits, "_" and the extra characters. Any other byte becomes "_" and
// two hex digits. A result of more than limit bytes is cut and ends in "__" and a hash of the text. No uncut result
// contains "__", because there "_" is always followed by a digit or a letter.
func safeName(text string, limit int, extra string) string {
	const hex, hashLen = "0123456789abcdef", 32
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte(extra, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('_')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	name := b.String()
	switch {
	case name == "":
		return "_"
	case len(name) <= limit:
		return name
	default:
		return name[:limit-hashLen-2] + "__" + HashText(text)[:hashLen]
	}
}

// Properties of the class that [EntryClass] defines.
const (
	PropertyItemKind    = "item_kind"
	PropertyItemID      = "item_id"
	PropertyTerms       = "terms"
	PropertyTitle       = "title"
	PropertyContent     = "content"
	PropertyEntryType   = "entry_type"
	PropertyUser        = "user"
	PropertyAgent       = "agent"
	PropertySessionID   = "session_id"
	PropertyMessage     = "message"
	PropertyLength      = "length"
	PropertyOccurredAt  = "occurred_at"
	PropertyContentHash = "content_hash"
)

// WeaviateClass is a class definition as Weaviate's REST schema endpoint takes it.
type WeaviateClass struct {
	Class              string                `json:"class"`
	Description        string                `json:"description"`
	Vectorizer         string                `json:"vectorizer"`
	VectorIndexType    string                `json:"vectorIndexType"`
	VectorIndexConfig  WeaviateVectorIndex   `json:"vectorIndexConfig"`
	MultiTenancyConfig WeaviateTenancy       `json:"multiTenancyConfig"`
	InvertedIndex      WeaviateInvertedIndex `json:"invertedIndexConfig"`
	Properties         []WeaviateProperty    `json:"properties"`
	// ReplicationConfig is nil for one replica. The number of shards is that of the tenants: Weaviate takes no other.
	ReplicationConfig *WeaviateReplication `json:"replicationConfig,omitempty"`
}

// WeaviateReplication configures the replicas of each tenant.
type WeaviateReplication struct {
	Factor int `json:"factor"`
}

// WeaviateVectorIndex configures a flat index.
type WeaviateVectorIndex struct {
	Distance string                     `json:"distance"`
	BQ       WeaviateBinaryQuantization `json:"bq"`
}

// WeaviateBinaryQuantization keeps one bit per dimension in memory. It ranks the best RescoreLimit candidates again
// by their full vectors.
type WeaviateBinaryQuantization struct {
	Enabled      bool `json:"enabled"`
	Cache        bool `json:"cache"`
	RescoreLimit int  `json:"rescoreLimit"`
}

// WeaviateTenancy configures multi-tenancy.
type WeaviateTenancy struct {
	Enabled              bool `json:"enabled"`
	AutoTenantCreation   bool `json:"autoTenantCreation"`
	AutoTenantActivation bool `json:"autoTenantActivation"`
}

// WeaviateInvertedIndex configures keyword search.
type WeaviateInvertedIndex struct {
	BM25            WeaviateBM25      `json:"bm25"`
	Stopwords       WeaviateStopwords `json:"stopwords"`
	IndexTimestamps bool              `json:"indexTimestamps"`
}

// WeaviateBM25 contains the parameters of BM25.
type WeaviateBM25 struct {
	B  float64 `json:"b"`
	K1 float64 `json:"k1"`
}

// WeaviateStopwords names a list of words that keyword search ignores.
type WeaviateStopwords struct {
	Preset string `json:"preset"`
}

// WeaviateProperty is one property of a class.
type WeaviateProperty struct {
	Name              string   `json:"name"`
	Description       string   `json:"description,omitempty"`
	DataType          []string `json:"dataType"`
	Tokenization      string   `json:"tokenization,omitempty"`
	IndexFilterable   bool     `json:"indexFilterable"`
	IndexSearchable   bool     `json:"indexSearchable"`
	IndexRangeFilters bool     `json:"indexRangeFilters"`
}

// EntryClass returns the definition of the class with the name. Each project is a tenant. The client provides every
// vector. Keyword search reads only the terms property. The client computes the terms, because Weaviate's tokenizers
// for Korean and Chinese are off unless the server is started with them.
//
// Fields that change after an entry is created (stage, status, supersession) are not stored here. They are read from
// ClickHouse, so that a search never uses an outdated copy.
//
// The description ends with a hash of the settings, which identifies a class that was created with other settings.
func EntryClass(name string) WeaviateClass {
	class := entryClass()
	settings, _ := json.Marshal(class) //nolint:errchkjson // it holds texts, numbers and booleans
	class.Class = name
	class.Description = "Vectors of one embedding version; a projection of the event log. Settings " +
		HashText(string(settings))[:16] + "."
	return class
}

func entryClass() WeaviateClass {
	return WeaviateClass{
		Vectorizer:      "none",
		VectorIndexType: "flat",
		VectorIndexConfig: WeaviateVectorIndex{
			Distance: "cosine",
			// Without the cache: after a restart it is empty for a tenant whose vectors are all in the unflushed log,
			// and searches by meaning miss them (weaviate#12132; v1.35.2 has the bug).
			BQ: WeaviateBinaryQuantization{Enabled: true, RescoreLimit: 200},
		},
		MultiTenancyConfig: WeaviateTenancy{Enabled: true, AutoTenantActivation: true},
		InvertedIndex: WeaviateInvertedIndex{
			BM25: WeaviateBM25{B: 0.75, K1: 1.2}, Stopwords: WeaviateStopwords{Preset: "none"},
		},
		Properties: []WeaviateProperty{
			exactProperty(PropertyItemKind, "entry, fact, task_title or message"),
			exactProperty(PropertyItemID, ""),
			{
				Name: PropertyTerms, Description: "analyzed title and content, separated by spaces",
				DataType: []string{"text"}, Tokenization: "whitespace", IndexSearchable: true,
			},
			storedProperty(PropertyTitle),
			storedProperty(PropertyContent),
			exactProperty(PropertyEntryType, ""),
			exactProperty(PropertyUser, ""),
			exactProperty(PropertyAgent, ""),
			exactProperty(PropertySessionID, ""),
			{Name: PropertyMessage, Description: "index of the message in its session", DataType: []string{"int"}},
			{Name: PropertyLength, Description: "number of terms", DataType: []string{"int"}},
			{
				Name: PropertyOccurredAt, DataType: []string{"date"},
				IndexFilterable: true, IndexRangeFilters: true,
			},
			storedProperty(PropertyContentHash),
		},
	}
}

func exactProperty(name, description string) WeaviateProperty {
	return WeaviateProperty{
		Name: name, Description: description, DataType: []string{"text"},
		Tokenization: "field", IndexFilterable: true,
	}
}

func storedProperty(name string) WeaviateProperty {
	return WeaviateProperty{Name: name, DataType: []string{"text"}, Tokenization: "field"}
}
