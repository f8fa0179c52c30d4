package serve

import (
	"net/http"
	"strings"
)

// operation is a command as an endpoint: its arguments and flags are the parameters, its JSON output is the answer, and
// its errors are the problems.
type operation struct {
	method, path, command string
	// args are the names of the arguments, in their order. The default is the words of the usage line.
	args []string
	// fixed are flags that each request sets, and only are the flags that a request may set (default: all).
	fixed map[string]string
	only  []string
	// needs are flags without which the command is refused.
	needs []string
	// refs are parameters that name other items, and the paths of these.
	refs map[string]string
	// input names the property whose items the command reads from its standard input, one a line.
	input string
	// narrowed are parameters of which a server of one scope needs one: without them the operation is about more.
	narrowed []string
	// wide is true for an operation on more than one project and user, which only a server of all serves.
	wide bool
	// long is true for work that takes minutes.
	long bool
	// told is true if the answer lists the failures itself. The failures of other operations are problems.
	told bool
	// accepted is true if the work goes on after the answer. unfit is the status of an answer that says that something failed.
	accepted bool
	unfit    int
	// id and summary describe the operation, where the command's own words do not.
	id, summary string
}

// none means that a request may set no flag but the scope.
var none = []string{"project", "user", "agent"}

// operations returns the endpoints, in the order of the documentation.
func operations() []operation {
	get, post, put, patch, del := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	recall := []operation{
		{method: post, path: "/v1/sessions", command: "enqueue", args: []string{"-"}, fixed: map[string]string{"messages": "true"}, input: "messages",
			only: []string{"project", "user", "agent", "session", "now", "debounce", "max-wait", "flush-reason"}, needs: []string{"session"}, accepted: true, unfit: http.StatusServiceUnavailable,
			summary: "Remember messages of a session: a worker makes memories of them"},
		{method: get, path: "/v1/sessions", command: "sessions"},
		{method: get, path: "/v1/sessions/{session}", command: "session show"},
		{method: get, path: "/v1/sessions/{session}/messages", command: "session read"},
		{method: get, path: "/v1/queue", command: "queue"},
		{method: post, path: "/v1/queue/flush", command: "queue flush", fixed: map[string]string{"no-wait": "true"}, only: append([]string{"session"}, none...), accepted: true},

		{method: get, path: "/v1/search", command: "search", args: []string{"query"}, only: []string{
			"project", "user", "agent", "session", "kind", "type", "stage", "status", "superseded", "from", "to", "as-of", "alpha", "expand", "limit", "cursor",
		}},
		{method: get, path: "/v1/context", command: "context"},
		{method: get, path: "/v1/entries/{entry}", command: "entry show"},
		{method: post, path: "/v1/entries/{entry}/correct", command: "entry correct", long: true, needs: []string{"with"}},
		{method: post, path: "/v1/entries/{entry}/confirm", command: "entry confirm", only: none},
		{method: post, path: "/v1/entries/{entry}/retire", command: "entry retire", needs: []string{"because"}},
		{method: post, path: "/v1/entries/{entry}/restore", command: "entry restore"},
		{method: get, path: "/v1/measures", command: "health", fixed: map[string]string{"by": "scope"}, only: none},

		{method: get, path: "/v1/facts", command: "facts"},
		{method: post, path: "/v1/facts", command: "facts add", args: []string{"content"}},
		{method: get, path: "/v1/facts/{fact}", command: "facts show"},
		{method: patch, path: "/v1/facts/{fact}", command: "facts update"},
		{method: del, path: "/v1/facts/{fact}", command: "facts delete"},
		{method: get, path: "/v1/facts/{fact}/changes", command: "facts history"},
		{method: get, path: "/v1/fact-changes", command: "facts history", args: []string{}, id: "facts-changes"},
		{method: get, path: "/v1/profile", command: "profile show"},
		{method: put, path: "/v1/profile/{section}", command: "profile set"},
		{method: del, path: "/v1/profile/{section}", command: "profile clear"},

		{method: get, path: "/v1/tasks", command: "tasks"},
		{method: get, path: "/v1/tasks/{task}", command: "task show"},
		{method: patch, path: "/v1/tasks/{task}", command: "task set"},
		{method: post, path: "/v1/tasks/{task}/confirm", command: "task confirm", only: []string{"project", "reason"}},
		{method: post, path: "/v1/tasks/{task}/merge", command: "task merge"},
		{method: get, path: "/v1/blocked-tasks", command: "blocked"},
		{method: get, path: "/v1/conditions", command: "conditions resolved"},
		{method: post, path: "/v1/conditions/{condition}/resolve", command: "condition resolve"},
		{method: post, path: "/v1/artifacts/{artifact}/close", command: "artifact close"},
	}
	return append(recall, moreOperations(get, post, put, del)...)
}

// moreOperations returns the endpoints of dreams, conflicts, decisions, builds and servers.
func moreOperations(get, post, put, del string) []operation {
	return []operation{
		{method: get, path: "/v1/dreams", command: "dream list"},
		{method: post, path: "/v1/dreams", command: "dream", told: true, long: true},
		{method: get, path: "/v1/dreams/{dream}", command: "dream show"},
		{method: get, path: "/v1/memory", command: "memory show", only: []string{"user", "agent", "version"}},
		{method: get, path: "/v1/memory/sources", command: "memory show", fixed: map[string]string{"sources": "true"}, only: []string{"user", "agent", "version"}, id: "memory-sources"},
		{method: get, path: "/v1/memory/versions", command: "memory history"},
		{method: get, path: "/v1/memory/diff", command: "memory diff"},
		{method: post, path: "/v1/memory/versions/{version}/restore", command: "memory restore"},
		{method: get, path: "/v1/schedules", command: "schedule list", wide: true},
		{method: put, path: "/v1/schedules", command: "schedule apply", wide: true},
		{method: get, path: "/v1/schedules/{schedule}", command: "schedule show", wide: true},
		{method: del, path: "/v1/schedules/{schedule}", command: "schedule delete", wide: true},
		{method: post, path: "/v1/schedules/{schedule}/pause", command: "schedule pause", wide: true},
		{method: post, path: "/v1/schedules/{schedule}/resume", command: "schedule resume", wide: true},
		{method: post, path: "/v1/schedules/{schedule}/trigger", command: "schedule trigger", only: none, wide: true},

		{method: get, path: "/v1/conflicts", command: "conflicts"},
		{method: get, path: "/v1/conflicts/{conflict}", command: "conflicts show"},
		{method: post, path: "/v1/conflicts/{conflict}/resolve", command: "conflicts resolve", needs: []string{"keep"}, refs: map[string]string{"keep": "/v1/entries/{entry}"}},
		{method: get, path: "/v1/proposals", command: "proposals"},
		{method: post, path: "/v1/proposals/{proposal}/accept", command: "proposals accept", long: true},
		{method: post, path: "/v1/proposals/{proposal}/reject", command: "proposals reject"},
		{method: get, path: "/v1/decisions", command: "decisions"},
		{method: post, path: "/v1/decisions", command: "decisions record", args: []string{"decision"}, needs: []string{"because-of"}, refs: map[string]string{"because_of": "/v1/entries/{entry}"}},
		{method: get, path: "/v1/decisions/{decision}", command: "decisions show"},
		{method: post, path: "/v1/graduate", command: "graduate", only: []string{"project"}, wide: true, long: true},
		{method: get, path: "/v1/verify", command: "verify", told: true, long: true},

		{method: get, path: "/v1/builds", command: "builds list"},
		{method: get, path: "/v1/builds/{build}", command: "builds show"},
		{method: get, path: "/v1/builds/{build}/diff/{other}", command: "builds diff", refs: map[string]string{"other": "/v1/builds/{build}"}},
		{method: post, path: "/v1/builds/{build}/retry", command: "builds retry", fixed: map[string]string{"detach": "true"}, only: []string{"force"}, accepted: true},
		{method: post, path: "/v1/builds/{build}/replay", command: "builds replay", told: true, long: true},
		{method: get, path: "/v1/steps", command: "builds steps"},
		{method: get, path: "/v1/days", command: "builds days"},
		{method: get, path: "/v1/batches", command: "builds batches", wide: true},

		{method: post, path: "/v1/forget/preview", command: "forget", only: []string{"project", "user", "agent", "session", "query"}, narrowed: []string{"session", "query"}, id: "forget-preview", long: true, summary: "Show what would be erased"},
		{method: post, path: "/v1/forget", command: "forget", fixed: map[string]string{"yes": "true"}, only: []string{"project", "user", "agent", "session", "query", "because"},
			narrowed: []string{"session", "query"}, long: true},
		{method: get, path: "/v1/forget", command: "forget list", wide: true},

		{method: get, path: "/v1/health", command: "doctor", only: none, unfit: http.StatusServiceUnavailable},
		{method: get, path: "/v1/embedder", command: "embedder status"},
	}
}

// changes reports whether the operation changes data.
func (o operation) changes() bool { return o.method != http.MethodGet }

// item returns the path of the item that the operation is about, or "" if it is about none.
func (o operation) item() string {
	at := strings.Index(o.path, "}")
	return o.path[:at+1]
}

// name returns the id of the operation.
func (o operation) name() string {
	if o.id != "" {
		return o.id
	}
	return strings.ReplaceAll(o.command, " ", "-")
}
