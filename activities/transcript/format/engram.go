package format

import "github.com/tidwall/gjson"

// engram reads memories as Weaviate's Engram lists them.
var engram = Format{
	Name: "engram", Title: "Weaviate Engram", Files: "memories (JSON), as the interface lists them",
	Reference: "docs.weaviate.io/engram, concepts/memories and guides/manage-memories",
	Dirs:      nowhere, migrated: true, lists: true, anonymous: true,
	isRecord: func(rec gjson.Result) bool {
		first := itemsOf(rec, "memories")
		return len(first) > 0 && first[0].Get("content").Type == gjson.String && first[0].Get("topic").Exists()
	},
	reader: stateless(func(b *builder, line int, rec gjson.Result) {
		for _, item := range itemsOf(rec, "memories") {
			m := recalled{
				id: item.Get("id").String(), by: "engram", text: item.Get("content").String(),
				at: b.time(line, firstOf(item, "updated_at", "created_at")),
			}
			if m.text == "" {
				b.skip(line, reasonNoRecord)
				continue
			}
			b.own(item.Get("user_id"))
			b.useSession(joined("engram", item.Get("project_id").String(), item.Get("user_id").String(), item.Get("properties.conversation_id").String()))
			b.claim(line, m, item, "project_id", "user_id", "group", "topic", "properties", "score", "created_at")
			b.state(line, m)
		}
	}),
}
