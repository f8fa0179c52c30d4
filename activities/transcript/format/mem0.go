package format

import "github.com/tidwall/gjson"

// mem0 reads memories as the functions get_all and search, and the interface of the platform return them.
var mem0 = Format{
	Name: "mem0", Title: "Mem0", Files: "memories (JSON), as get_all returns them",
	Reference: "docs.mem0.ai, cookbooks/essentials/exporting-memories and open-source/features/rest-api",
	Dirs:      nowhere, migrated: true, lists: true, anonymous: true,
	isRecord: func(rec gjson.Result) bool {
		first := itemsOf(rec, "results", "memories")
		return len(first) > 0 && first[0].Get("memory").Type == gjson.String
	},
	reader: stateless(func(b *builder, line int, rec gjson.Result) {
		for _, item := range itemsOf(rec, "results", "memories") {
			m := recalled{
				id: item.Get("id").String(), by: "mem0", text: item.Get("memory").String(),
				at:    b.time(line, firstOf(item, "updated_at", "created_at")),
				ended: b.ended(line, item.Get("expiration_date").String()),
			}
			if m.text == "" {
				b.skip(line, reasonNoRecord)
				continue
			}
			b.own(item.Get("user_id"))
			b.useSession(joined("mem0", item.Get("user_id").String(), item.Get("agent_id").String(), item.Get("run_id").String()))
			b.claim(line, m, item, "user_id", "agent_id", "run_id", "app_id", "actor_id", "role", "categories", "metadata", "score", "expiration_date", "created_at")
			b.state(line, m)
		}
		b.claim(line, recalled{by: "mem0"}, rec, "relations") // Those of the graph store, as it lists them next to the results.
	}),
}
