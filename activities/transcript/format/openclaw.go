package format

import (
	"strings"

	"github.com/tidwall/gjson"
)

// openClaw has the format of [pi]. The path distinguishes them.
var openClaw = Format{
	Name: "openclaw", Title: "OpenClaw", Files: "session (JSONL)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/openclaw.md",
	Dirs:      []string{".openclaw/agents/*/sessions"},
	isRecord:  isPi, reader: stateless(piRecord), family: "pi", pathHints: []string{"openclaw"},
	tools: tools{
		"exec": shell("command"),
	},
	companions: []companion{
		{description: "a checkpoint of a session that has its own file", isFile: isOpenClawCheckpoint},
		{description: "an index of sessions", isRecord: isOpenClawIndex},
	},
}

func isOpenClawCheckpoint(name string) bool {
	return strings.Contains(name, ".checkpoint.") && strings.HasSuffix(name, ".jsonl")
}

func isOpenClawIndex(rec gjson.Result) bool {
	index := false
	if rec.IsObject() {
		rec.ForEach(func(_, v gjson.Result) bool {
			index = v.IsObject() && v.Get("sessionFile").Exists()
			return index
		})
	}
	return index
}
