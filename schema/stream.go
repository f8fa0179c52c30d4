package schema

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prefixes of stream names, one for each kind of stream.
const (
	SessionPrefix = "session/"
	ProjectPrefix = "project/"
	MemoryPrefix  = "memory/"
	DreamPrefix   = "dream/"
	ModelPrefix   = "model/"
	VectorPrefix  = "vector/"
	BatchPrefix   = "batch/"
	QueuePrefix   = "queue/"
	// ContextPrefix is the prefix of the streams of messages that are too long for a signal.
	ContextPrefix = "context/"
	// GraduatePrefix is the prefix of the streams about entries across the sessions of a project.
	GraduatePrefix = "graduate/"
	// UsagePrefix is the prefix of the streams that record which entries of a project were retrieved.
	UsagePrefix = "usage/"
	// RebuildPrefix is the prefix of the streams that record rebuilds of projections.
	RebuildPrefix = "rebuild/"
	// ErasurePrefix is the prefix of the streams that record erasures.
	ErasurePrefix = "erasure/"
	// anyPrefix is the prefix of all streams.
	anyPrefix = ""
)

// streamNames maps prefixes to the rest of the patterns of stream names.
var streamNames = map[string]string{
	SessionPrefix:  "{project}/{user}/{agent}/{id}",
	ProjectPrefix:  "{project}",
	MemoryPrefix:   "{user}/{agent}",
	DreamPrefix:    "{hash}",
	ModelPrefix:    "{hash}",
	VectorPrefix:   "{collection}",
	BatchPrefix:    "{id}",
	QueuePrefix:    "{user}/{agent}",
	ContextPrefix:  "{project}/{user}/{agent}/{thread}/{hash}",
	GraduatePrefix: "{project}",
	UsagePrefix:    "{project}/{shard}",
	RebuildPrefix:  "{rebuild}",
	ErasurePrefix:  "{audit or erasure}",
	anyPrefix:      "{any}",
}

// StreamHead is the position of the last event of a stream, as far as the stream's only writer knows it. The zero value
// means that it is not known. The head of a stream without events is known and 0.
type StreamHead struct {
	Known bool   `json:"known,omitempty"`
	Seq   uint64 `json:"seq,omitempty"`
}

// Highest returns the head with the higher position. An unknown head is lower than all others.
func (h StreamHead) Highest(other StreamHead) StreamHead {
	if other.Known && (!h.Known || other.Seq > h.Seq) {
		return other
	}
	return h
}

// SessionKey identifies a session by its owner and its own id. Different projects, users and agents may each have a
// session with the same id. These sessions are unrelated.
type SessionKey struct {
	Scope
	SessionID string `json:"session_id"`
}

// Stream returns the name of the session's stream, which its process_session workflow writes:
// session/{project}/{user}/{agent}/{id}.
func (k SessionKey) Stream() string {
	return streamName(SessionPrefix, k.Project, k.User, k.Agent, k.SessionID)
}

// SessionsOf returns the prefix of the streams of the project's sessions.
func SessionsOf(project string) string { return streamName(SessionPrefix, project) + "/" }

// WorkflowID returns the id of the only workflow that may write the session's stream.
func (k SessionKey) WorkflowID() string { return WorkflowID(k.Stream()) }

// Validate returns an error if the key cannot name a session.
func (k SessionKey) Validate() error {
	if err := k.Scope.Validate(); err != nil {
		return err
	}
	if err := requireName("session_id", k.SessionID); err != nil {
		return err
	}
	if n := len(k.WorkflowID()); n > maxWorkflowID {
		return fmt.Errorf("project, user, agent and session_id make a workflow id of %d bytes, more than %d: shorten them", n, maxWorkflowID)
	}
	return nil
}

// Validate returns an error if a name in the scope is not allowed. The agent may be empty.
func (s Scope) Validate() error {
	return cmp.Or(requireName("project", s.Project), requireName("user", s.User), CheckName("agent", s.Agent))
}

// ParseSessionStream returns the session of the stream. It accepts exactly the results of [SessionKey.Stream].
func ParseSessionStream(stream string) (SessionKey, error) {
	parts, ok := streamParts(stream, SessionPrefix, 4)
	if !ok {
		return SessionKey{}, fmt.Errorf("parse stream %q: want session/{project}/{user}/{agent}/{id}", stream)
	}
	return SessionKey{Scope: Scope{Project: parts[0], User: parts[1], Agent: parts[2]}, SessionID: parts[3]}, nil
}

// ProjectStream returns the name of the project's stream, which its project_tasks workflow writes: project/{project}.
func ProjectStream(project string) string { return streamName(ProjectPrefix, project) }

// ParseProjectStream returns the project of the stream. It accepts exactly the results of [ProjectStream].
func ParseProjectStream(stream string) (project string, err error) {
	parts, ok := streamParts(stream, ProjectPrefix, 1)
	if !ok {
		return "", fmt.Errorf("parse stream %q: want project/{project}", stream)
	}
	return parts[0], nil
}

// GraduateStream returns the name of the project's stream of graduation, which its graduation workflow writes:
// graduate/{project}.
func GraduateStream(project string) string { return streamName(GraduatePrefix, project) }

// ParseGraduateStream returns the project of the stream. It accepts exactly the results of [GraduateStream].
func ParseGraduateStream(stream string) (project string, err error) {
	parts, ok := streamParts(stream, GraduatePrefix, 1)
	if !ok {
		return "", fmt.Errorf("parse stream %q: want graduate/{project}", stream)
	}
	return parts[0], nil
}

// usageShards is how many streams of usage a project has. Requests come from many programs at once: with one stream they
// would wait for each other, and with one for each request there would be no end of streams.
const usageShards = 16

// UsageStream returns the name of the stream in which a writer records the entries that requests retrieved:
// usage/{project}/{shard}. The same writer always has the same stream.
func UsageStream(project, writer string) string {
	shard := crc32.ChecksumIEEE([]byte(writer)) % usageShards
	return streamName(UsagePrefix, project, strconv.FormatUint(uint64(shard), 10))
}

// ParseUsageStream returns the project of the stream.
func ParseUsageStream(stream string) (project string, err error) {
	parts, ok := streamParts(stream, UsagePrefix, 2)
	if !ok {
		return "", fmt.Errorf("parse stream %q: want usage/{project}/{shard}", stream)
	}
	return parts[0], nil
}

// MemoryStream returns the name of the stream with the agent's memory of the user: memory/{user}/{agent}.
func MemoryStream(user, agent string) string { return streamName(MemoryPrefix, user, agent) }

// ParseMemoryStream returns the user and agent of the stream. It accepts exactly the results of [MemoryStream].
func ParseMemoryStream(stream string) (user, agent string, err error) {
	parts, ok := streamParts(stream, MemoryPrefix, 2)
	if !ok {
		return "", "", fmt.Errorf("parse stream %q: want memory/{user}/{agent}", stream)
	}
	return parts[0], parts[1], nil
}

// QueueStream returns the name of the stream of contexts that are enqueued for the agent's memory of the user:
// queue/{user}/{agent}. Its memory_queue workflow writes it.
func QueueStream(user, agent string) string { return streamName(QueuePrefix, user, agent) }

// ParseQueueStream returns the user and agent of the stream. It accepts exactly the results of [QueueStream].
func ParseQueueStream(stream string) (user, agent string, err error) {
	parts, ok := streamParts(stream, QueuePrefix, 2)
	if !ok {
		return "", "", fmt.Errorf("parse stream %q: want queue/{user}/{agent}", stream)
	}
	return parts[0], parts[1], nil
}

// ContextStream returns the name of the stream of a thread's messages that are too long for a signal, which is written once:
// context/{project}/{user}/{agent}/{thread}/{hash}. The hash is [QueuedContext.Held].
func ContextStream(thread SessionKey, hash string) string {
	return streamName(ContextPrefix, thread.Project, thread.User, thread.Agent, thread.SessionID, hash)
}

// ParseContextStream returns the thread and the hash of the stream. It accepts exactly the results of [ContextStream].
func ParseContextStream(stream string) (thread SessionKey, hash string, err error) {
	parts, ok := streamParts(stream, ContextPrefix, 5)
	if !ok {
		return SessionKey{}, "", fmt.Errorf("parse stream %q: want context/{project}/{user}/{agent}/{thread}/{hash}", stream)
	}
	return SessionKey{Scope: Scope{Project: parts[0], User: parts[1], Agent: parts[2]}, SessionID: parts[3]}, parts[4], nil
}

// DreamStream returns the name of the stream with the input of one dream, which is written once. The hash is of its
// content.
func DreamStream(hash string) string { return DreamPrefix + hash }

// ModelStream returns the name of the stream of one model response, which is written once.
func ModelStream(key string) string { return ModelPrefix + key }

// VectorStream returns the name of the collection's stream, which its vector_writer workflow writes.
func VectorStream(collection string) string { return VectorPrefix + collection }

// BatchStream returns the name of the stream of a batch, which the workflow that processes the batch writes.
func BatchStream(id string) string { return BatchPrefix + id }

// Slashes and percent signs in names are percent-encoded, so that different names give different streams.
var (
	escapeName   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescapeName = strings.NewReplacer("%25", "%", "%2F", "/")
)

func streamName(prefix string, names ...string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = escapeName.Replace(name)
	}
	return prefix + strings.Join(escaped, "/")
}

func streamParts(stream, prefix string, want int) (names []string, ok bool) {
	rest, ok := strings.CutPrefix(stream, prefix)
	if !ok {
		return nil, false
	}
	names = strings.Split(rest, "/")
	for i, name := range names {
		names[i] = unescapeName.Replace(name)
	}
	return names, len(names) == want && streamName(prefix, names...) == stream
}

// WorkflowID returns the id of the only workflow that writes the stream: its name, with every byte that is not
// printable ASCII percent-encoded. Temporal's client sends ids in gRPC headers, which allow nothing else. Different
// streams have different ids, because every percent sign in a stream name is followed by 25 or 2F.
func WorkflowID(stream string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(stream) {
		c := stream[i]
		if c > ' ' && c < 0x7f {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// WorkflowStream is the inverse of [WorkflowID]: in the name of a stream 25 or 2F follows each percent sign.
func WorkflowStream(id string) string {
	var b strings.Builder
	for i := 0; i < len(id); i++ {
		if id[i] == '%' && i+2 < len(id) {
			if digits := id[i+1 : i+3]; digits != "25" && digits != "2F" {
				if n, err := strconv.ParseUint(digits, 16, 8); err == nil {
					b.WriteByte(byte(n))
					i += 2
					continue
				}
			}
		}
		b.WriteByte(id[i])
	}
	return b.String()
}

// CheckWorkflowID returns an error if a person's id of a workflow to signal is invalid. It may be empty. Like the
// results of [WorkflowID] it is sent in gRPC headers.
func CheckWorkflowID(id string) error {
	if len(id) > temporalWorkflowID {
		return fmt.Errorf("the workflow id %.40q… has %d bytes, more than %d", id, len(id), temporalWorkflowID)
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return fmt.Errorf("the workflow id %q holds something else than printable ASCII, which no signal reaches", id)
		}
	}
	return nil
}

const (
	// MaxNameBytes is the maximum size of session ids and of the names in a scope.
	MaxNameBytes = 200
	// temporalWorkflowID is Temporal's limit. maxWorkflowID stays below it, to leave room for suffixes.
	temporalWorkflowID = 1000
	maxWorkflowID      = 900
)

func requireName(field, name string) error {
	if name == "" {
		return fmt.Errorf("%s is empty", field)
	}
	return CheckName(field, name)
}

// CheckName returns an error if the value cannot be a name. An empty value is allowed.
func CheckName(field, name string) error {
	if len(name) > MaxNameBytes {
		return fmt.Errorf("%s %.40q… has %d bytes, more than %d", field, name, len(name), MaxNameBytes)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("%s %q is not UTF-8", field, name)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return fmt.Errorf("%s %q holds a control character", field, name)
		}
	}
	return nil
}
