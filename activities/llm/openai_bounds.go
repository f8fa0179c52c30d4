package llm

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Bounds of an answer. A small model may repeat an item or a word without end, and nothing else would stop it.
const (
	boundedItems  = 30
	boundedString = 1000
	boundedTokens = 8192 // Some models think before they answer, and their thoughts count.
)

// bounded returns the JSON schema with a bound for each list and each text that has none, or a higher one. The order of its
// fields stays, since a server that constrains answers has them written in that order.
func bounded(schema []byte) []byte {
	var b strings.Builder
	writeBounded(&b, gjson.ParseBytes(schema))
	return []byte(b.String())
}

func writeBounded(b *strings.Builder, v gjson.Result) {
	switch {
	case v.IsObject():
		bound, limit := "", int64(0)
		switch {
		case v.Get("type").Str == "array":
			bound, limit = "maxItems", boundedItems
		case v.Get("type").Str == "string" && !v.Get("enum").Exists():
			bound, limit = "maxLength", boundedString
		}
		separator := "{"
		v.ForEach(func(key, field gjson.Result) bool {
			if key.Str == bound && field.Int() > limit {
				return true
			}
			if key.Str == bound {
				bound = ""
			}
			b.WriteString(separator + key.Raw + ":")
			separator = ","
			writeBounded(b, field)
			return true
		})
		if bound != "" {
			b.WriteString(separator + `"` + bound + `":` + strconv.FormatInt(limit, 10))
			separator = ","
		}
		if separator == "{" {
			b.WriteString("{")
		}
		b.WriteString("}")
	case v.IsArray():
		b.WriteString("[")
		for i, e := range v.Array() {
			if i > 0 {
				b.WriteString(",")
			}
			writeBounded(b, e)
		}
		b.WriteString("]")
	default:
		b.WriteString(v.Raw)
	}
}
