package format

// roo has the format of [cline]. The path distinguishes them.
var roo = Format{
	Name: "roo", Title: "Roo Code", Files: "api_conversation_history.json",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/roo.md",
	Dirs:      editorDirs("rooveterinaryinc.roo-cline/tasks"),
	isRecord:  isCline, reader: stateless(clineRecord), family: "cline",
	pathHints: []string{"roo/", "roo-cline", "roo-code"}, messageFiles: []string{clineHistory + ".json"},
	sameNames: []string{clineHistory},
	tools:     tools{"update_todo_list": todoList("todos", "", ""), "ask_followup_question": questions},
}
