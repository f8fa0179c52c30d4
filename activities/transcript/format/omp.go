package format

// omp has the format of [pi]. The path distinguishes them.
var omp = Format{
	Name: "omp", Title: "Oh My Pi", Files: "session (JSONL)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/omp.md",
	Dirs:      []string{".omp/agent/sessions", ".omp/profiles/*/agent/sessions", ".local/share/omp/sessions"},
	isRecord:  isPi, reader: stateless(piRecord), family: "pi", pathHints: []string{"omp/"},
}
