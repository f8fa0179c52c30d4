package page

import (
	"regexp"
	"strconv"
	"strings"

	"axiommind/schema"
	"axiommind/starter/command/dreams"
)

// view is a page: a template over reads of the API.
type view struct {
	// path is the pattern of the address. Its words are parameters of the reads.
	path, template, title string
	words                 []string
	// reads are made at once. The first one is the page's own: it takes the parameters of the address too, and its problem is
	// the page's. The others may fail.
	reads []read
	// then returns a read whose parameters come from the answer of the first one, or false.
	then func(main any) (read, bool)
	// An optional view shows its problem within the page. The problem that there is nothing yet counts as an empty answer.
	optional bool
	// ready reports whether there is something to read. Without it there always is.
	ready func(*data) bool
}

// read is a request of a view.
type read struct {
	name, operation string
	// fixed are parameters. A value of the form {word} is that word of the address.
	fixed map[string]string
	// takes are the parameters that the address may set.
	takes []string
	// everyone is true for a read that is not about the scope of the page. Only a server of all makes it.
	everyone bool
}

// values returns the parameters of the read.
func (r read) values(d *data, o Operation) map[string][]string {
	values := map[string][]string{}
	for name, value := range r.fixed {
		if word, is := strings.CutPrefix(value, "{"); is {
			value = d.Asked[strings.TrimSuffix(word, "}")]
		}
		values[name] = []string{value}
	}
	for _, f := range o.Fields {
		if value, asked := d.Asked[f.Name]; asked && values[f.Name] == nil {
			values[f.Name] = []string{value}
		}
	}
	for _, name := range r.takes {
		var given []string
		for _, value := range d.Query[name] {
			if value = strings.TrimSpace(value); value != "" {
				given = append(given, value)
			}
		}
		if given != nil {
			values[name] = given
		}
	}
	return values
}

// Of most lists the first items are enough for an overview.
const (
	someItems = "8"
	allTasks  = "500"
)

type fixed = map[string]string

// views returns all views. A read of the whole store, such as its counts, is a view of its own. Other pages load it after they
// are shown.
func views() []view {
	list := []view{
		{path: "/{$}", template: "overview", title: "Overview", reads: []read{
			{operation: "builds-days"},
			{name: "conflicts", operation: "conflicts", fixed: fixed{"limit": someItems}},
			{name: "proposals", operation: "proposals", fixed: fixed{"limit": someItems}},
			{name: "done", operation: "tasks", fixed: fixed{"reported_done": "true", "limit": someItems}},
			{name: "dreams", operation: "dream-list", fixed: fixed{"limit": someItems}},
			{name: "sessions", operation: "sessions", fixed: fixed{"limit": someItems}},
			{name: "failed", operation: "sessions", fixed: fixed{"limit": someItems, "status": string(schema.BuildFailed)}},
			{name: "queue", operation: "queue"},
		}},
		{path: "/counts", template: "counts", title: "Counts", reads: []read{
			{operation: "health"},
		}},
		{path: "/scopes", template: "scopes", title: "Whose memory", reads: []read{{operation: "health", everyone: true}}},
		{path: "/sessions", template: "sessions", title: "Sessions", reads: []read{{operation: "sessions", takes: []string{"cursor", "limit", "status"}}}},
		{path: "/sessions/{session}", template: "session", title: "Session", reads: []read{
			{operation: "session-read", takes: []string{"cursor", "limit", "from", "tools", "proven"}},
			{name: "size", operation: "session-show"},
			{name: "builds", operation: "builds-list", fixed: fixed{"session": "{session}", "limit": someItems}},
		}},
		{path: "/sessions/{session}/builds", template: "sessionbuilds", title: "Builds of a session", reads: []read{
			{operation: "builds-list", fixed: fixed{"session": "{session}", "limit": someItems}},
		}},
		{path: "/search", template: "search", title: "Search", ready: func(d *data) bool { return strings.TrimSpace(d.Query.Get("query")) != "" }, reads: []read{
			{operation: "search", takes: []string{"query", "kind", "type", "stage", "status", "session", "superseded", "from", "to", "as_of", "cursor"}},
		}},
		{path: "/entries/{entry}", template: "entry", title: "Memory", reads: []read{{operation: "entry-show"}}},
		{path: "/memory", template: "memory", title: "Core memory", optional: true, reads: []read{
			{operation: "memory-sources", takes: []string{"version"}},
			{name: "versions", operation: "memory-history", fixed: fixed{"limit": someItems}},
			{name: "dreams", operation: "dream-list", fixed: fixed{"limit": "1"}},
		}},
		{path: "/memory/versions", template: "versions", title: "Versions of core memory", reads: []read{{operation: "memory-history", takes: []string{"cursor"}}}},
		{path: "/memory/diff", template: "diff", title: "Changes of core memory", ready: func(d *data) bool { return d.Query.Has("from") }, reads: []read{
			{operation: "memory-diff", takes: []string{"from", "to"}},
		}},
		{path: "/dreams", template: "dreams", title: "Dreams", reads: []read{{operation: "dream-list", takes: []string{"cursor"}}}},
		{path: "/dreams/{dream}", template: "dream", title: "Dream", reads: []read{{operation: "dream-show"}}, then: changesOf},
		{path: "/tasks", template: "tasks", title: "Tasks", reads: []read{
			{operation: "tasks", fixed: fixed{"limit": allTasks}, takes: []string{"cursor", "as_of", "status", "reported_done"}},
			{name: "blocked", operation: "blocked", fixed: fixed{"limit": "50"}},
		}},
		{path: "/tasks/{task}", template: "task", title: "Task", reads: []read{{operation: "task-show"}}},
	}
	list = append(list, moreViews()...)
	for i := range list {
		for _, word := range words.FindAllStringSubmatch(list[i].path, -1) {
			list[i].words = append(list[i].words, word[1])
		}
	}
	return list
}

// changesOf reads the changes of the version that a dream made.
func changesOf(main any) (read, bool) {
	d, is := main.(dreams.ShownDream)
	return read{name: "changes", operation: "memory-diff", fixed: fixed{"from": strconv.Itoa(d.Parent), "to": strconv.Itoa(d.Version)}}, is && d.Version > 0
}

var words = regexp.MustCompile(`\{([a-z]+)\}`)

// moreViews returns the views of facts, decisions and builds.
func moreViews() []view {
	return []view{
		{path: "/facts", template: "facts", title: "Facts", reads: []read{
			{operation: "facts", takes: []string{"cursor", "category", "all"}},
			{name: "profile", operation: "profile-show"},
		}},
		{path: "/facts/{fact}", template: "fact", title: "Fact", reads: []read{
			{operation: "facts-show"},
			{name: "changes", operation: "facts-history"},
		}},
		{path: "/changes", template: "changes", title: "Changes of facts and the profile", reads: []read{{operation: "facts-changes", takes: []string{"cursor"}}}},
		{path: "/conflicts", template: "conflicts", title: "Conflicts", reads: []read{
			{operation: "conflicts", takes: []string{"cursor", "all"}},
			{name: "proposals", operation: "proposals"},
		}},
		{path: "/conflicts/{conflict}", template: "conflict", title: "Conflict", reads: []read{{operation: "conflicts-show"}}},
		{path: "/proposals", template: "proposals", title: "Proposals", reads: []read{{operation: "proposals", takes: []string{"cursor", "all"}}}},
		{path: "/decisions", template: "decisions", title: "Decisions", reads: []read{{operation: "decisions", takes: []string{"cursor", "all"}}}},
		{path: "/decisions/{decision}", template: "decision", title: "Decision", reads: []read{{operation: "decisions-show"}}},
		{path: "/builds", template: "builds", title: "Builds", reads: []read{
			{operation: "builds-list", takes: []string{"cursor", "status", "class", "session", "since"}},
		}},
		{path: "/steps", template: "steps", title: "Steps", reads: []read{{operation: "builds-steps", takes: []string{"since"}}}},
		{path: "/builds/{build}", template: "build", title: "Build", reads: []read{{operation: "builds-show"}}},
		{path: "/builds/{build}/diff/{other}", template: "builddiff", title: "Difference of two builds", reads: []read{{operation: "builds-diff"}}},
		{path: "/imports", template: "imports", title: "Imports", optional: true, reads: []read{{operation: "builds-batches", takes: []string{"cursor"}}}},
		{path: "/schedules", template: "schedules", title: "Schedules", optional: true, reads: []read{{operation: "schedule-list"}}},
		{path: "/queue", template: "queue", title: "Queue", optional: true, reads: []read{{operation: "queue"}}},
		{path: "/forgotten", template: "forgotten", title: "Forgotten", optional: true, reads: []read{{operation: "forget-list", takes: []string{"cursor"}}}},
		{path: "/health", template: "health", title: "Servers", optional: true, reads: []read{
			{operation: "doctor"},
			{name: "embedder", operation: "embedder-status"},
		}},
	}
}
