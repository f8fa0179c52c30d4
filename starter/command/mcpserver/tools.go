package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/fact"
	"axiommind/activities/retrieve"
	"axiommind/activities/task"
	"axiommind/activities/text"
	"axiommind/schema"
	"axiommind/starter/command"
)

// Arguments of the tools. The project, user and agent are not among them.
type (
	noArguments    struct{}
	queryArguments struct {
		Query string `json:"query" jsonschema:"text to look for, in any language"`
	}
	contextArguments struct {
		Query string `json:"query,omitempty" jsonschema:"subject of the work; without it, the surest memories"`
	}
	entryArguments struct {
		Entry string `json:"entry" jsonschema:"handle of a memory or message, as search prints it"`
	}
	tasksArguments struct {
		Status string `json:"status,omitempty" jsonschema:"default: all"`
	}
	rememberArguments struct {
		Fact string `json:"fact" jsonschema:"one sentence that stands alone, in the user's words"`
	}
	correctArguments struct {
		Entry   string `json:"entry" jsonschema:"handle of the memory"`
		Action  string `json:"action" jsonschema:"correct: replace it with the right statement; retire: believe it no longer"`
		Text    string `json:"text,omitempty" jsonschema:"for correct: the right statement"`
		Because string `json:"because" jsonschema:"why, as the user or the source says it"`
	}
	taskArguments struct {
		Task      string   `json:"task" jsonschema:"handle of the task, as tasks prints it"`
		Status    string   `json:"status"`
		BlockedBy []string `json:"blocked_by,omitempty" jsonschema:"for blocked: an issue, an address, a task or any text"`
		Reason    string   `json:"reason,omitempty"`
	}
)

// call is one call of a tool.
type call struct {
	// By names the caller in histories: mcp and the client's name.
	By string
}

// readOnly and additive annotate tools.
var (
	closedWorld = new(bool)
	readOnly    = &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: closedWorld}
	additive    = &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(bool), OpenWorldHint: closedWorld}
)

func (s *mcpServer) addTools(server *mcp.Server) {
	addTool(s, server, readOnly, "search", "Find memories. Returns date, title and handle of each; read one with entry or timeline.",
		nil, s.search)
	addTool(s, server, readOnly, "timeline", "Read the messages and memories before and after a memory.", nil, s.timeline)
	addTool(s, server, readOnly, "entry", "Read a memory, with the quotes that prove it, checked against the source.", nil, s.entry)
	addTool(s, server, readOnly, "context", "Read the user's profile and facts, within a token budget. Call it when work begins.",
		nil, s.context)
	addTool(s, server, readOnly, "tasks", "List tasks, the last changed first.",
		map[string][]any{"status": {"pending", "in_progress", "blocked", "done", "cancelled"}}, s.tasks)
	addTool(s, server, readOnly, "blocked", "List blocked tasks and their blockers.", nil, s.blocked)
	addTool(s, server, additive, "remember", "Remember a fact that the user said, as your word until the user confirms it. "+
		"Not for your own conclusions.", nil, s.remember)
	addTool(s, server, additive, "correct", "Propose to correct or retire a memory that is wrong. A person or the policy confirms it.",
		map[string][]any{"action": {string(schema.ChangeCorrect), string(schema.ChangeRetire)}}, s.correct)
	addTool(s, server, additive, "task", "Report a task as done, or as blocked with its blockers.",
		map[string][]any{"status": {"done", "blocked"}}, s.task)
	addTool(s, server, readOnly, "forget", "Preview an erasure. It erases nothing.", nil, s.forget)
}

// addTool adds a tool. Enums are the values that an argument may have.
func addTool[In any](s *mcpServer, server *mcp.Server, hints *mcp.ToolAnnotations, name, description string, enums map[string][]any,
	fn func(context.Context, call, In) (string, error),
) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of the tool %s: %v", name, err)) // The arguments are types of this file.
	}
	for argument, values := range enums {
		schema.Properties[argument].Enum = values
	}
	if list := schema.Properties["blocked_by"]; list != nil { // null is not accepted as an empty list.
		list.Types, list.Type = nil, "array"
	}
	tool := &mcp.Tool{Name: name, Description: description, InputSchema: schema, Annotations: hints}
	mcp.AddTool(server, tool, func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		said, err := fn(ctx, call{By: callerOf(r)}, in)
		if err != nil {
			s.logger.Debug("a tool failed", "tool", name, "reason", err)
			return nil, nil, errors.New(advise(name, err))
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil, nil
	})
}

// adviseArguments adds advice to the SDK's own errors about arguments that do not match a tool's schema.
func adviseArguments(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		if refused, ok := result.(*mcp.CallToolResult); ok && err == nil && refused.IsError && len(refused.Content) == 1 {
			if said, ok := refused.Content[0].(*mcp.TextContent); ok && strings.HasPrefix(said.Text, "validating") {
				said.Text = command.OneLine(said.Text, maxAdvice) + ". Give the arguments that the tool's schema names, and no others."
			}
		}
		return result, err
	}
}

// callerOf returns the client's name for histories.
func callerOf(r *mcp.CallToolRequest) string {
	if info := r.ClientInfo(); info != nil && strings.TrimSpace(info.Name) != "" {
		return "mcp:" + command.OneLine(info.Name, 60)
	}
	return "mcp"
}

// maxAdvice bounds an error for a model, in characters.
const maxAdvice = 500

// advise returns the text of an error with the next step.
func advise(tool string, err error) string {
	next := ""
	switch {
	case errors.Is(err, entry.ErrNotFound), errors.Is(err, fact.ErrFactNotFound), errors.Is(err, retrieve.ErrNoMessage):
		next = "Call search, and give a handle that it prints."
	case errors.Is(err, clickhouse.ErrAmbiguous), errors.Is(err, task.ErrAmbiguous):
		next = "Give more characters of the handle."
	case errors.Is(err, task.ErrNotFound):
		next = "Call tasks, and give a handle that it prints."
	case errors.Is(err, retrieve.ErrQuery):
		next = "Change the query."
	case !command.IsUsage(err):
		next = "Go on without the memory and tell the user: starter doctor names the fault. The next call tries again."
	}
	said := command.OneLine(tool+": "+strings.ReplaceAll(command.Reason(err), "\n", ". "), maxAdvice)
	if next != "" {
		said = strings.TrimRight(said, ".") + ". " + next
	}
	return said
}

// oneText checks an argument that is a text.
func oneText(argument, value string) (string, error) {
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return "", command.Usagef("%s is empty: give it a text", argument)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "", command.Usagef("%s is not plain text: leave out bytes that are not characters", argument)
	}
	return value, nil
}

// sheet is the answer of a tool: lines of remembered data within a token limit.
type sheet struct {
	counter fact.Counter
	left    int
	b       strings.Builder
	// full is true once a line did not fit.
	full bool
}

// Tokens reserved for the frame around the lines, and for a note about omitted lines.
const (
	frameTokens = 40
	tailTokens  = 50
)

func (s *mcpServer) sheet(tokens int) (*sheet, error) {
	counter, err := s.counter()
	if err != nil {
		return nil, err
	}
	return &sheet{counter: counter, left: tokens - frameTokens - tailTokens}, nil
}

// unmark prevents remembered data from closing the frame that marks it as data.
var unmark = strings.NewReplacer("&", "&amp;", "<", "&lt;")

// add adds a line, or returns false if it does not fit. Control characters are made visible.
func (p *sheet) add(format string, args ...any) bool {
	var b strings.Builder
	command.Say(&b, format, args...)
	return p.put(b.String())
}

func (p *sheet) put(line string) bool {
	line = unmark.Replace(text.Visible(line)) + "\n"
	cost := p.counter.Count(line)
	if p.full || cost > p.left {
		p.full = true
		return false
	}
	p.left -= cost
	p.b.WriteString(line)
	return true
}

// short truncates a text to one line within the token limit.
func (p *sheet) short(s string, tokens int) string { return p.excerpt(s, "", tokens) }

// excerpt is [command.Excerpt] with a limit in tokens.
func (p *sheet) excerpt(s, statement string, tokens int) string {
	n := 4 * tokens
	line := command.Excerpt(s, statement, n)
	for n > 1 && p.counter.Count(unmark.Replace(line)) > tokens {
		n = n * 2 / 3
		line = command.Excerpt(s, statement, n)
	}
	if p.counter.Count(unmark.Replace(line)) <= tokens {
		return line
	}
	return "…" // One character of a title may have a hundred combining marks.
}

// end returns the answer. tail is not remembered data.
func (p *sheet) end(tail string) string {
	said := fact.Framed(p.b.String())
	if tail != "" {
		said += "\n" + tail
	}
	return said
}
