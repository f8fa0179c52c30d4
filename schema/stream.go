package schema

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prefixes of the names of streams, one for each kind.
const (
	SessionPrefix = "session/"
	ProjectPrefix = "project/"
	MemoryPrefix  = "memory/"
	ModelPrefix   = "model/"
	VectorPrefix  = "vector/"
)

// streamNames are the parts of the names of streams behind their prefix.
var streamNames = map[string]string{
	SessionPrefix: "{project}/{user}/{agent}/{id}",
	ProjectPrefix: "{project}",
	MemoryPrefix:  "{user}/{agent}",
	ModelPrefix:   "{hash}",
	VectorPrefix:  "{collection}",
}

// SessionKey identifies a session: whose it is, and its own id there. Two projects, users or agents
// may each have a session of one id, and know nothing of each other's.
type SessionKey struct {
	Scope
	SessionID string `json:"session_id"`
}

// Stream is the stream that the process_session workflow of the session writes:
// session/{project}/{user}/{agent}/{id}.
func (k SessionKey) Stream() string {
	return streamName(SessionPrefix, k.Project, k.User, k.Agent, k.SessionID)
}

// WorkflowID is the id of the only workflow that may write the session's stream.
func (k SessionKey) WorkflowID() string { return WorkflowID(k.Stream()) }

// Validate reports what of the key can't name a session.
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

// Validate reports what of the scope can't be a name. The agent may be empty.
func (s Scope) Validate() error {
	return cmp.Or(requireName("project", s.Project), requireName("user", s.User), CheckName("agent", s.Agent))
}

// ParseSessionStream returns the session of the stream. It accepts exactly what [SessionKey.Stream]
// returns.
func ParseSessionStream(stream string) (SessionKey, error) {
	parts, ok := streamParts(stream, SessionPrefix, 4)
	if !ok {
		return SessionKey{}, fmt.Errorf("parse stream %q: want session/{project}/{user}/{agent}/{id}", stream)
	}
	return SessionKey{Scope: Scope{Project: parts[0], User: parts[1], Agent: parts[2]}, SessionID: parts[3]}, nil
}

// ProjectStream is the stream that the project_tasks workflow of the project writes: project/{project}.
func ProjectStream(project string) string { return streamName(ProjectPrefix, project) }

// ParseProjectStream returns the project of the stream. It accepts exactly what [ProjectStream] returns.
func ParseProjectStream(stream string) (project string, err error) {
	parts, ok := streamParts(stream, ProjectPrefix, 1)
	if !ok {
		return "", fmt.Errorf("parse stream %q: want project/{project}", stream)
	}
	return parts[0], nil
}

// MemoryStream is the stream of what is remembered of the user by the agent: memory/{user}/{agent}.
func MemoryStream(user, agent string) string { return streamName(MemoryPrefix, user, agent) }

// ParseMemoryStream returns the user and agent of the stream. It accepts exactly what [MemoryStream]
// returns.
func ParseMemoryStream(stream string) (user, agent string, err error) {
	parts, ok := streamParts(stream, MemoryPrefix, 2)
	if !ok {
		return "", "", fmt.Errorf("parse stream %q: want memory/{user}/{agent}", stream)
	}
	return parts[0], parts[1], nil
}

// ModelStream is the stream of one model response, written once.
func ModelStream(key string) string { return ModelPrefix + key }

// VectorStream is the stream that the vector_writer workflow of the collection writes.
func VectorStream(collection string) string { return VectorPrefix + collection }

// Slashes and percent signs in names are percent-encoded, so that no two lists of names share a stream.
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

// WorkflowID is the id of the workflow that alone writes the stream: its name, with all but printable
// ASCII percent-encoded, byte by byte. Temporal's client sends ids in gRPC headers, which hold nothing
// else. No two streams share an id: a percent sign of a stream begins %25 or %2F.
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

const (
	// MaxNameBytes bounds session ids and the names of a scope.
	MaxNameBytes = 200
	// maxWorkflowID leaves room below the 1000 bytes that Temporal takes for what is put behind an id.
	maxWorkflowID = 900
)

func requireName(field, name string) error {
	if name == "" {
		return fmt.Errorf("%s is empty", field)
	}
	return CheckName(field, name)
}

// CheckName reports why a value can be no name of a field, empty ones aside.
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
