package format

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"axiommind/schema"
)

// zep reads the messages of a Zep thread, and the episodes, facts and nodes of its graph, in one object or in lists. The
// graph of Graphiti has the same ones. A fact that is no longer valid is context.
var zep = Format{
	Name: "zep", Title: "Zep and Graphiti", Files: "messages, episodes, edges and nodes (JSON)",
	Reference: "help.getzep.com, reading-data-from-the-graph and sdk-reference/graph; github.com/getzep/graphiti, graphiti_core/nodes.py and edges.py",
	Dirs:      nowhere, migrated: true, lists: true, anonymous: true,
	isRecord: isZep, reader: stateless(zepRecord),
}

// zepIDs are the names of an item's id: the second is that of the fields of Zep's client for Python.
var zepIDs = []string{"uuid", "uuid_"}

var zepLists = []string{"messages", "episodes", "edges", "facts", "nodes"}

func isZep(rec gjson.Result) bool {
	for _, name := range zepLists {
		if rec.Get(name).IsArray() && isZepItem(rec.Get(name+".0")) {
			return true
		}
	}
	return isZepItem(rec)
}

func isZepItem(item gjson.Result) bool {
	return firstOf(item, zepIDs...).Exists() && (item.Get("fact").Exists() || item.Get("content").Exists() || item.Get("summary").Exists())
}

func zepRecord(b *builder, line int, rec gjson.Result) {
	found := false
	for _, name := range zepLists {
		if list := rec.Get(name); list.IsArray() {
			found = true
			for _, item := range list.Array() {
				zepItem(b, line, rec, item)
			}
		}
	}
	if !found {
		zepItem(b, line, gjson.Result{}, rec)
	}
}

// zepItem reads an item of a list in a record.
func zepItem(b *builder, line int, of, item gjson.Result) {
	m := recalled{id: firstOf(item, zepIDs...).String(), by: "zep", at: b.time(line, firstOf(item, "valid_at", "created_at"))}
	b.own(firstOf(item, "user_id"))
	b.own(firstOf(of, "user_id"))
	owner := func(kind string) string {
		owner := firstOf(item, "thread_id", "session_id").String()
		if owner == "" {
			owner = firstOf(of, "thread_id", "session_id").String()
		}
		if kind != "" || owner == "" {
			owner = joined(firstOf(item, "graph_id", "group_id", "user_id").String(), kind)
		}
		return joined("zep", owner)
	}
	switch {
	case item.Get("fact").Exists():
		m.text = item.Get("fact").String()
		m.ended = b.ended(line, item.Get("invalid_at").String()) || b.ended(line, item.Get("expired_at").String())
		b.useSession(owner("facts"))
		b.claim(line, m, item, "name", "source_node_uuid", "target_node_uuid", "episodes", "attributes", "relevance", "score", "created_at", "valid_at", "invalid_at", "expired_at")
		b.state(line, m)
	case item.Get("content").Exists():
		b.useSession(owner(""))
		zepEpisode(b, line, m, item)
	case item.Get("summary").Exists():
		m.text = item.Get("summary").String()
		b.useSession(owner("nodes"))
		b.claim(line, m, item, "name", "labels", "attributes", "created_at")
		b.state(line, m)
	default:
		b.skip(line, reasonNoRecord)
	}
}

// roleInName is the label of a speaker in an episode that Zep's server wrote, such as "Ann(user)".
var roleInName = regexp.MustCompile(`^(.*?) ?\((\w+)\)$`)

// zepLines reads the messages in an episode of Graphiti, each of which begins with its speaker, as in "Ann: Hello". It returns
// false if the first line has no speaker.
func (b *builder) zepLines(m schema.Message) bool {
	first, ok, id := "", false, m.SourceID
	if first, _, ok = speaker(m.Text); !ok || !isName(first) && speakerRole(first) == "" {
		return false
	}
	who, text, n := speakersOf(m.Text, false), m.Text, 0
	var body strings.Builder
	flush := func() {
		if n++; n > 1 && id != "" {
			m.SourceID = id + "#" + strconv.Itoa(n)
		}
		m.Text = trimBreaks(body.String())
		b.addApart(m)
		body.Reset()
	}
	eachLine(text, func(i int, line string, fenced bool) {
		label, rest, ok := speaker(line)
		name, said := label, cmp.Or(speakerRole(label), schema.RoleUser)
		if in := roleInName.FindStringSubmatch(label); in != nil && speakerRole(in[2]) != "" {
			name, said = in[1], speakerRole(in[2])
		} else if ok = ok && !fenced; ok && label != first {
			ok = false
			if who != nil {
				_, ok = who(label)
			}
		}
		if ok && !fenced {
			if i > 1 {
				flush()
			}
			m.Role, m.Kind, m.Author, line = said, textKind(said), "", rest
			if speakerRole(name) == "" {
				m.Author = name
			}
		}
		body.WriteString(line)
	})
	flush()
	return true
}

// zepEpisode reads a message or a text that was given to Zep: the words are the speaker's.
func zepEpisode(b *builder, line int, m recalled, item gjson.Result) {
	m.text = item.Get("content").String()
	b.claim(line, m, item, "source", "source_description", "metadata", "processed")
	said := schema.Message{Kind: schema.KindText, SourceID: m.id, At: m.at, Line: line, Text: m.text}
	switch role := strings.ToLower(firstOf(item, "role_type", "role").String()); role {
	case "user":
		said.Role = schema.RoleUser
	case "assistant", "ai":
		said.Role = schema.RoleAssistant
	case "tool", "function":
		said.Role, said.Kind, said.Tool = schema.RoleTool, schema.KindToolResult, item.Get("name").String()
	case "system":
		said.Role, said.Kind = schema.RoleSystem, schema.KindContext
	default:
		if item.Get("source").Str == "json" {
			said.Role, said.Kind = schema.RoleTool, schema.KindToolResult
			break
		}
		if item.Get("source").Str != "message" || !b.zepLines(said) {
			b.state(line, m)
		}
		return
	}
	if name := firstOf(item, "name", "role").String(); said.Role != schema.RoleTool && speakerRole(strings.ToLower(name)) == "" {
		said.Author = name
	}
	b.addApart(said)
}
