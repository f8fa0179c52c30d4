package vector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"axiommind/schema"
)

// quote returns text as a GraphQL string literal. No text can end the literal early. Its value is the text, with
// invalid UTF-8 replaced by U+FFFD.
func quote(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == utf8.RuneError:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = quote(t)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func floats(vector []float32) string {
	b := make([]byte, 0, len(vector)*12+2)
	b = append(b, '[')
	for i, v := range vector {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// Filter restricts a search by immutable properties of items. Except for User, a zero field restricts nothing.
type Filter struct {
	// Kinds are the kinds of items to find. Titles of tasks have no user, agent, session, type or time, and are found
	// regardless of those fields.
	Kinds []string
	// IDs are the items to find.
	IDs []string
	// User is always compared: an empty one matches only items without a user.
	User      string
	Agent     string
	SessionID string
	Types     []string
	// From and To bound occurred_at. From is inclusive, To is exclusive.
	From, To time.Time
}

// where renders the filter as GraphQL. Weaviate trims white space in such values, so the filter may admit too much
// but never too little. Callers check the rows they load.
func (f Filter) where() string {
	kinds := slices.DeleteFunc(slices.Clone(f.Kinds), func(kind string) bool { return kind == schema.ItemTaskTitle })
	titles := equal(schema.PropertyItemKind, schema.ItemTaskTitle)
	if len(kinds) == 0 && len(f.Kinds) > 0 {
		return titles
	}
	operands := []string{equal(schema.PropertyUser, f.User)}
	if len(kinds) > 0 {
		operands = append(operands, anyOf(schema.PropertyItemKind, kinds))
	}
	if len(f.IDs) > 0 {
		operands = append(operands, anyOf(schema.PropertyItemID, f.IDs))
	}
	if f.Agent != "" {
		operands = append(operands, equal(schema.PropertyAgent, f.Agent))
	}
	if f.SessionID != "" {
		operands = append(operands, equal(schema.PropertySessionID, f.SessionID))
	}
	if len(f.Types) > 0 {
		operands = append(operands, anyOf(schema.PropertyEntryType, f.Types))
	}
	if !f.From.IsZero() {
		operands = append(operands, date("GreaterThanEqual", f.From))
	}
	if !f.To.IsZero() {
		operands = append(operands, date("LessThan", f.To))
	}
	others := "{operator:And,operands:[" + strings.Join(operands, ",") + "]}"
	if len(kinds) < len(f.Kinds) {
		return "{operator:Or,operands:[" + titles + "," + others + "]}"
	}
	return others
}

func anyOf(property string, values []string) string {
	return fmt.Sprintf(`{path:["%s"],operator:ContainsAny,valueText:%s}`, property, quoteAll(values))
}

func equal(property, value string) string {
	return fmt.Sprintf(`{path:["%s"],operator:Equal,valueText:%s}`, property, quote(value))
}

func date(operator string, t time.Time) string {
	return fmt.Sprintf(`{path:["%s"],operator:%s,valueDate:%s}`,
		schema.PropertyOccurredAt, operator, quote(t.UTC().Format(time.RFC3339Nano)))
}

// noSchema is the server's error if it has no classes at all.
const noSchema = "no graphql provider present"

// errNoClass is the error of a query over a class that does not exist.
var errNoClass = errors.New("class does not exist")

// query runs a GraphQL query over one collection, whose class find returns, and decodes its rows. If the class or tenant
// does not exist, there are none.
func query[T any](
	ctx context.Context, c *Client, find func(context.Context, string) (string, error), op, function, collection, arguments, fields string,
) ([]T, error) {
	class, err := find(ctx, collection)
	if err != nil {
		return nil, err
	}
	rows, err := queryClass[T](ctx, c, op, function, class, arguments, fields)
	if err == nil {
		return rows, nil
	}
	// The name may have been switched since. A query over a class that is being deleted fails in several ways.
	now, lookErr := c.freshClass(ctx, collection)
	if lookErr == nil && now != class {
		rows, err = queryClass[T](ctx, c, op, function, now, arguments, fields)
	}
	if errors.Is(err, errNoClass) {
		return nil, lookErr
	}
	return rows, err
}

func queryClass[T any](ctx context.Context, c *Client, op, function, class, arguments, fields string) ([]T, error) {
	text := fmt.Sprintf("{%s{%s(%s){%s}}}", function, class, arguments, fields)
	var answer struct {
		Data   map[string]map[string][]T `json:"data"`
		Errors []graphQLError            `json:"errors"`
	}
	if err := c.request(ctx, op, http.MethodPost, "/graphql", map[string]string{"query": text}, &answer); err != nil {
		// Before the first class is created there is no GraphQL schema, and the server reports this by an error
		// status.
		if strings.Contains(err.Error(), noSchema) {
			return nil, errNoClass
		}
		return nil, err
	}
	if len(answer.Errors) > 0 {
		return nil, c.graphqlError(op, class, answer.Errors)
	}
	byClass := answer.Data[function]
	if byClass == nil {
		return nil, c.reject(op, 0, "answer has no %q", function)
	}
	return byClass[class], nil
}

// graphQLError is an error in the answer to a query.
type graphQLError struct {
	Message string `json:"message"`
}

// graphqlError returns nil if the errors say that there is no such tenant, and errNoClass if there is no such class.
func (c *Client) graphqlError(op, collection string, list []graphQLError) error {
	var messages []string
	for _, e := range list {
		messages = append(messages, e.Message)
	}
	text := strings.Join(messages, "; ")
	if strings.Contains(text, "tenant not found") {
		return nil
	}
	for _, absent := range []string{`Cannot query field "` + collection + `"`, noSchema} {
		if strings.Contains(text, absent) {
			return errNoClass
		}
	}
	status := 0
	for _, rejected := range []string{"Syntax Error", "Cannot query field", "has invalid value", "Unknown argument", "lengths don't match", "wrong size"} {
		if strings.Contains(text, rejected) {
			status = http.StatusUnprocessableEntity
		}
	}
	return c.reject(op, status, "%s", text)
}

// Count returns the number of the project's objects in the collection.
func (c *Client) Count(ctx context.Context, collection, project string) (int, error) {
	return c.countTenant(ctx, collection, schema.VectorTenant(project))
}

func (c *Client) countTenant(ctx context.Context, collection, tenant string) (int, error) {
	type counted struct {
		Meta struct{ Count int }
	}
	rows, err := query[counted](ctx, c, c.class, "count objects", "Aggregate", collection, "tenant:"+quote(tenant), "meta{count}")
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0].Meta.Count, nil
}

// Stored has the properties of an object that reconcile compares.
type Stored struct {
	ID, Kind, ItemID, ContentHash string
}

const storedFields = schema.PropertyItemKind + " " + schema.PropertyItemID + " " +
	schema.PropertyContentHash + " _additional{id}"

// Lookup returns the objects that exist, by id. Pass at most a few hundred ids.
func (c *Client) Lookup(ctx context.Context, collection, project string, ids []string) (map[string]Stored, error) {
	if len(ids) == 0 {
		return map[string]Stored{}, nil
	}
	rows, err := query[storedItem](ctx, c, c.class, "look up objects", "Get", collection, fmt.Sprintf(
		`tenant:%s,limit:%d,where:{path:["id"],operator:ContainsAny,valueText:%s}`,
		quote(schema.VectorTenant(project)), len(ids), quoteAll(ids)), storedFields)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Stored, len(rows))
	for _, row := range rows {
		out[row.Additional.ID] = row.stored()
	}
	return out, nil
}

// List returns up to limit objects of the project in the order of their ids, after the given id.
func (c *Client) List(ctx context.Context, collection, project, after string, limit int) ([]Stored, error) {
	rows, err := query[storedItem](ctx, c, c.class, "list objects", "Get", collection, fmt.Sprintf(
		`tenant:%s,limit:%d,after:%s`, quote(schema.VectorTenant(project)), limit, quote(after)), storedFields)
	if err != nil {
		return nil, err
	}
	out := make([]Stored, 0, len(rows))
	for _, row := range rows {
		out = append(out, row.stored())
	}
	return out, nil
}
