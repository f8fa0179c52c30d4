package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"axiommind/schema"
)

// Media types of answers.
const (
	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
)

// describe returns the description of the endpoints as OpenAPI 3.1. The parameters are those of the commands, and the answers
// the types of their results.
func (s *server) describe() *huma.OpenAPI {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "AxiomMind", Version: "v1",
			Description: "Long-term memory with proof. Each operation is a command of starter: its flags are the parameters, " +
				"its JSON is the answer. A server serves one project and user, or all with --all; only then the parameters " +
				"project and user may name others.",
		},
		Components: &huma.Components{Schemas: registry, Parameters: headers(), SecuritySchemes: map[string]*huma.SecurityScheme{
			"token": {Type: "http", Scheme: "bearer", Description: "the text of the server's --token-file"},
		}},
		Security: []map[string][]string{{"token": {}}},
	}
	for _, e := range s.endpoints {
		tag := s.app.GroupOf(e.command)
		if !slices.ContainsFunc(doc.Tags, func(t *huma.Tag) bool { return t.Name == tag }) {
			doc.Tags = append(doc.Tags, &huma.Tag{Name: tag})
		}
		doc.AddOperation(e.describe(registry, tag))
	}
	for name := range registry.Map() {
		admitNull(registry, "#/components/schemas/"+name)
	}
	return doc
}

// admitNull completes the schema of a type: pointers to objects, and maps, can be null where they are not left out.
func admitNull(registry huma.Registry, ref string) {
	of, t := registry.SchemaFromRef(ref), registry.TypeFromRef(ref)
	if t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s := of.Properties[cmp.Or(name, f.Name)]
		if s == nil || strings.Contains(options, "omit") {
			continue
		}
		switch {
		case f.Type.Kind() == reflect.Map:
			s.Nullable = true
		case f.Type.Kind() == reflect.Pointer && s.Ref != "":
			*s = huma.Schema{AnyOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}}
		}
	}
}

// describe describes the endpoint.
func (e *endpoint) describe(registry huma.Registry, tag string) *huma.Operation {
	op := &huma.Operation{
		OperationID: e.name(), Method: e.method, Path: e.path, Tags: []string{tag},
		Summary: e.title(), Description: "The command: starter " + e.command,
		Responses: map[string]*huma.Response{},
	}
	if e.wide {
		op.Description += ". Only a server of all serves it."
	}
	if len(e.narrowed) > 0 {
		op.Description += ". A server of one project and user needs " + strings.Join(e.narrowed, " or ") + "."
	}
	body := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, p := range e.params {
		s := e.schemaOf(registry, p)
		switch {
		case p.inPath:
			op.Parameters = append(op.Parameters, &huma.Param{Name: p.name, In: "path", Required: true, Schema: s})
		case e.method == http.MethodGet, e.method == http.MethodDelete:
			text := s.Description
			s.Description = ""
			op.Parameters = append(op.Parameters, &huma.Param{Name: p.name, In: "query", Required: p.needed, Description: text, Schema: s})
		default:
			body.Properties[p.name] = s
			if p.needed {
				body.Required = append(body.Required, p.name)
			}
		}
	}
	if e.changes() {
		for _, name := range []string{headerIdempotency, headerActor} {
			op.Parameters = append(op.Parameters, &huma.Param{Ref: "#/components/parameters/" + name})
		}
	}
	if len(body.Properties) > 0 {
		op.RequestBody = &huma.RequestBody{Required: len(body.Required) > 0, Content: map[string]*huma.MediaType{mediaJSON: {Schema: body}}}
	}
	status := http.StatusOK
	if e.accepted {
		status = http.StatusAccepted
	}
	op.Responses[strconv.Itoa(status)] = answerOf(http.StatusText(status), mediaJSON, e.answerSchema(registry))
	if e.unfit > 0 {
		op.Responses[strconv.Itoa(e.unfit)] = answerOf("The answer says what failed.", mediaJSON, e.answerSchema(registry))
	}
	op.Responses["default"] = answerOf("A problem, with the step to take next.", mediaProblem, registry.Schema(reflect.TypeFor[problem](), true, ""))
	return op
}

func answerOf(text, media string, s *huma.Schema) *huma.Response {
	return &huma.Response{Description: text, Content: map[string]*huma.MediaType{media: {Schema: s}}}
}

// headers describes the headers of requests that change data.
func headers() map[string]*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	return map[string]*huma.Param{
		headerIdempotency: {Name: headerIdempotency, In: "header", Description: "Two equal requests with the same key are done once.", Schema: text},
		headerActor:       {Name: headerActor, In: "header", Description: "Who asks, for the histories.", Schema: text},
	}
}

// answerSchema is the schema of the endpoint's answer.
func (e *endpoint) answerSchema(registry huma.Registry) *huma.Schema {
	var all []*huma.Schema
	for _, t := range e.cmd.Results {
		s := registry.Schema(t, true, "")
		if t.Kind() == reflect.Slice {
			s = &huma.Schema{Type: huma.TypeObject, Required: []string{"items"}, Properties: map[string]*huma.Schema{
				"items": {Type: huma.TypeArray, Items: registry.Schema(t.Elem(), true, "")},
				"next":  {Type: huma.TypeString, Description: "cursor of the next page, if there is one"},
			}}
		}
		all = append(all, s)
	}
	if len(all) == 1 {
		return all[0]
	}
	return &huma.Schema{AnyOf: all}
}

// schemaOf is the schema of a parameter.
func (e *endpoint) schemaOf(registry huma.Registry, p param) *huma.Schema {
	switch {
	case p.name == e.input:
		return &huma.Schema{Type: huma.TypeArray, Items: registry.Schema(reflect.TypeFor[schema.InlineMessage](), true, ""), Description: "messages, in their order"}
	case p.flag == nil:
		return &huma.Schema{Type: huma.TypeString}
	case p.name == "cursor":
		return &huma.Schema{Type: huma.TypeString, Description: "next of the page before"}
	}
	s := &huma.Schema{Type: huma.TypeString, Description: strings.ReplaceAll(flagName.ReplaceAllStringFunc(p.flag.Usage, func(flag string) string {
		return parameter(flag[2:])
	}), "\n", " ")}
	text := p.flag.DefValue
	switch p.flag.Value.Type() {
	case "bool":
		s.Type = huma.TypeBoolean
	case "int", "uint64":
		s.Type = huma.TypeInteger
		if n, err := strconv.Atoi(text); err == nil && n != 0 && !e.keeps(p) {
			s.Default = n
		}
	case "float64":
		s.Type = huma.TypeNumber
		if x, err := strconv.ParseFloat(text, 64); err == nil && x != 0 && !e.keeps(p) {
			s.Default = x
		}
	default:
		// The default of a scope is the server's.
		if text != "" && !lists(p.flag) && !e.keeps(p) && p.name != "project" && p.name != "user" {
			s.Default = text
		}
	}
	for _, value := range e.cmd.Values(p.flag) {
		s.Enum = append(s.Enum, value)
	}
	if lists(p.flag) {
		s = &huma.Schema{Type: huma.TypeArray, Description: s.Description, Items: &huma.Schema{Type: huma.TypeString, Enum: s.Enum}}
	}
	return s
}

// keeps reports whether a flag that is left out differs from one with its default: the stored value stays, or other flags decide.
func (e *endpoint) keeps(p param) bool {
	return e.method == http.MethodPatch || e.method == http.MethodPut || p.name == "alpha"
}

// schemaName names the schema of a type by its package and name.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := cmp.Or(t.Name(), hint)
	pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
	name, pkg = title(name), title(pkg)
	if pkg == "Schema" || pkg == "Serve" || strings.HasPrefix(name, pkg) {
		return name
	}
	return pkg + name
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return string(unicode.ToUpper(rune(s[0]))) + s[1:]
}

// document returns the description as JSON: one line for each path and each schema, so that a change is easy to read.
func (s *server) document() ([]byte, error) {
	raw, err := s.describe().MarshalJSON()
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := lay(&b, tree, 3); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// lay writes the value with one property a line, down to a depth. Properties are in the order of their names.
func lay(b *bytes.Buffer, value any, depth int) error {
	object, is := value.(map[string]any)
	if !is || depth == 0 {
		raw, err := json.Marshal(value)
		b.Write(raw)
		return err
	}
	between := "{\n"
	for _, name := range slices.Sorted(maps.Keys(object)) {
		b.WriteString(between + strconv.Quote(name) + ": ")
		if err := lay(b, object[name], depth-1); err != nil {
			return err
		}
		between = ",\n"
	}
	b.WriteString("\n}")
	return nil
}
