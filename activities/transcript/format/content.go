package format

import (
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// part is one piece of a message's content.
type part struct {
	kind   schema.Kind
	text   string
	tool   string
	callID string
	// failed says that a tool's result is a failure.
	failed bool
}

// message adds a message like m for each part of the content. m.Kind, if set, is the kind of the parts that
// are text. m.CallID and m.Tool are those of a tool's message.
func (b *builder) message(m schema.Message, content gjson.Result) {
	b.parts(m, contentParts(content))
}

func (b *builder) parts(m schema.Message, parts []part) {
	for _, p := range parts {
		one := m
		one.Text, one.Kind = p.text, p.kind
		if p.kind != schema.KindText {
			one.CallID, one.Tool = p.callID, p.tool
		}
		switch p.kind {
		case schema.KindToolCall, schema.KindThinking:
			one.Role = schema.RoleAssistant
		case schema.KindToolResult:
			one.Role = schema.RoleTool
		case schema.KindText:
			b.text(m, p.text)
			continue
		}
		b.failed = p.failed
		b.add(one)
		b.failed = false
	}
}

// callOnce adds a tool call unless the session holds one with its id. Some harnesses log a call when the
// model asks for it, and again when it runs.
func (b *builder) callOnce(m schema.Message, p part) {
	if _, known := b.session().tools[p.callID]; known && p.callID != "" {
		return
	}
	b.parts(m, []part{p})
}

// text adds a text of the message m. Injected passages become messages of their own.
func (b *builder) text(m schema.Message, text string) {
	m.Text = text
	switch {
	case m.Kind != "":
	case m.Role == schema.RoleSystem:
		m.Kind = schema.KindContext
	case m.Role == schema.RoleTool:
		m.Kind = schema.KindToolResult
	case m.Role == schema.RoleUser:
		m.Kind = schema.KindText
		b.addApart(m)
		return
	default:
		m.Kind = schema.KindText
	}
	if m.Kind != schema.KindToolResult {
		m.CallID = ""
	}
	b.add(m)
}

// contentParts reads content in the shapes of the OpenAI, Anthropic and Gemini interfaces, and of the
// harnesses built on them: a string, a block, or a list of both.
func contentParts(content gjson.Result) []part {
	switch {
	case content.Type == gjson.String:
		return []part{{kind: schema.KindText, text: content.Str}}
	case content.IsObject():
		if p, ok := blockPart(content); ok {
			return []part{p}
		}
	case content.IsArray():
		var parts []part
		content.ForEach(func(_, block gjson.Result) bool {
			if block.Type == gjson.String {
				parts = append(parts, part{kind: schema.KindText, text: block.Str})
			} else if p, ok := blockPart(block); ok {
				parts = append(parts, p)
			}
			return true
		})
		return parts
	}
	return nil
}

func blockPart(block gjson.Result) (part, bool) {
	if !block.IsObject() {
		return part{}, false
	}
	kind := block.Get("type").Str
	switch kind {
	case "":
		return geminiPart(block)
	case "text", "input_text", "output_text", "summary_text", "text-delta", "refusal":
		return part{kind: schema.KindText, text: firstOf(block, "text.value", "text", "refusal").String()}, true
	case "thinking", "reasoning", "think", "reasoning_text":
		text := firstOf(block, "thinking", "text", "think", "content")
		if text.Str == "" {
			text = block.Get("summary")
		}
		return part{kind: schema.KindThinking, text: resultText(text)}, true
	case "tool_use", "server_tool_use", "mcp_tool_use", "toolCall", "tool-call", "tool_call", "function_call", "function":
		return callPart(block), true
	case "toolRequest":
		p := callPart(firstOf(block, "toolCall.value", "toolCall"))
		p.callID = block.Get("id").String()
		return p, true
	case "tool_result", "tool-result", "toolResult", "toolResponse", "function_call_output",
		"web_search_tool_result", "mcp_tool_result":
		return resultPart(block), true
	case "image", "image_url", "input_image", "image_asset_pointer", "document", "file", "input_file", "input_audio", "audio":
		return attachmentPart(kind, block), true
	}
	if text := block.Get("text"); text.Type == gjson.String {
		return part{kind: schema.KindText, text: text.Str}, true
	}
	return part{}, false
}

func geminiPart(block gjson.Result) (part, bool) {
	if call := block.Get("functionCall"); call.IsObject() {
		return callPart(call), true
	}
	if res := block.Get("functionResponse"); res.IsObject() {
		return part{kind: schema.KindToolResult, text: resultText(firstOf(res, "response.output", "response")),
			tool: res.Get("name").String(), callID: res.Get("id").String()}, true
	}
	if data := firstOf(block, "inlineData", "fileData"); data.IsObject() {
		return attachmentPart("attachment", data), true
	}
	text := block.Get("text")
	if text.Type != gjson.String {
		return part{}, false
	}
	if block.Get("thought").Bool() {
		return part{kind: schema.KindThinking, text: text.Str}, true
	}
	return part{kind: schema.KindText, text: text.Str}, true
}

// callPart reads a tool call, in which the arguments are JSON or JSON in a string.
func callPart(call gjson.Result) part {
	args := firstOf(call, "input", "arguments", "args", "function.arguments", "parameters")
	return part{
		kind:   schema.KindToolCall,
		text:   rawText(args),
		tool:   firstOf(call, "name", "toolName", "function.name", "tool").String(),
		callID: firstOf(call, "call_id", "callId", "toolCallId", "tool_call_id", "id").String(),
	}
}

func resultPart(block gjson.Result) part {
	return part{
		kind: schema.KindToolResult,
		text: resultText(firstOf(block, "content", "output", "toolResult.value.content", "toolResult.value",
			"toolResult", "result", "text")),
		tool:   firstOf(block, "toolName", "name").String(),
		callID: firstOf(block, "tool_use_id", "toolCallId", "tool_call_id", "toolUseId", "call_id", "callId", "id").String(),
		failed: firstOf(block, "is_error", "isError").Bool() || block.Get("status").Str == "error",
	}
}

func attachmentPart(kind string, block gjson.Result) part {
	label := firstOf(block, "source.media_type", "mimeType", "mime_type", "mediaType", "filename", "name", "title").Str
	if label != "" {
		label = ": " + label
	}
	return part{kind: schema.KindContext, text: "[" + strings.TrimPrefix(kind, "input_") + label + "]"}
}

// resultText returns the result of a tool: the texts of its blocks, one a line, or else its JSON.
func resultText(v gjson.Result) string {
	switch {
	case v.Type == gjson.String:
		return v.Str
	case v.IsArray():
		var texts []string
		v.ForEach(func(_, item gjson.Result) bool {
			texts = append(texts, resultText(item))
			return true
		})
		return strings.Join(texts, "\n")
	case v.IsObject():
		if text := firstOf(v, "text", "value"); text.Type == gjson.String {
			return text.Str
		}
		switch kind := v.Get("type").Str; kind {
		case "image", "image_url", "input_image", "document", "file":
			return attachmentPart(kind, v).text
		}
		if inner := v.Get("content"); inner.Type == gjson.String || inner.IsArray() || inner.IsObject() {
			return resultText(inner)
		}
		return v.Raw
	}
	return rawText(v)
}

// firstOf returns the value of the first path that exists and is not null.
func firstOf(v gjson.Result, paths ...string) gjson.Result {
	for _, p := range paths {
		if r := v.Get(p); r.Exists() && r.Type != gjson.Null {
			return r
		}
	}
	return gjson.Result{}
}

// rawText returns a string's text, else the JSON.
func rawText(v gjson.Result) string {
	switch v.Type {
	case gjson.Null:
		return ""
	case gjson.String:
		return v.Str
	}
	return v.Raw
}

// role returns the role that a source means by a name; empty for an unknown name.
func role(name string) schema.Role {
	switch strings.ToLower(name) {
	case "user", "human":
		return schema.RoleUser
	case "assistant", "model", "ai", "gemini", "gpt", "chatgpt", "agent", "bot", "claude":
		return schema.RoleAssistant
	case "system", "developer":
		return schema.RoleSystem
	case "tool", "function", "toolresult", "tool_result", "observation", "ipython":
		return schema.RoleTool
	}
	return ""
}
