package rules

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"axiommind/schema"
)

// reference makes an entry of a link or of a numbered issue, once for each.
func (x *extractor) reference(l line, s span, h hit) {
	text := x.m.Text
	start, end := int(h.start), int(h.end)
	issue := strings.HasSuffix(text[start:end], "#")
	if issue {
		for end < l.end && '0' <= text[end] && text[end] <= '9' {
			end++
		}
		if end == int(h.end) {
			return
		}
	} else if end = urlEnd(text, start, l.end); !public(text[start:end]) {
		return
	}
	target := text[start:end]
	quote := x.quoteOf(span{l.start, l.end}, span{s.start, max(s.end, end)})
	if quote == "" {
		return
	}
	title := target
	if s.end-s.start <= maxTitle*utf8.UTFMax && !issue {
		said := clean(text[s.start:s.end])
		if n := utf8.RuneCountInString(said); n <= maxTitle/2 && len(said) >= len(target)+6 && strings.Contains(said, target) {
			title = said
		}
	}
	if n, ok := x.seen[target]; ok {
		proof := schema.Quote{MessageIndex: x.m.Index, Quote: quote}
		if known := &x.entries[n]; len(known.Evidence) < 3 && known.Evidence[len(known.Evidence)-1] != proof {
			known.Evidence = append(known.Evidence, proof)
		}
		return
	}
	x.seen[target] = len(x.entries)
	const confidence = 0.9
	x.add(schema.ExtractedEntry{Type: schema.EntryReference, Title: title, Content: target}, confidence, quote)
}

// urlEnd returns where a URL ends: at a space, at what a URL can't hold, and before the marks of
// the sentence around it.
func urlEnd(text string, start, limit int) int {
	end := start
	for end < limit && text[end] > ' ' && text[end] < 0x7f && !strings.ContainsRune("<>\"`'|\\^{}", rune(text[end])) {
		end++
	}
	for end > start {
		switch last := text[end-1]; {
		case strings.IndexByte(".,;:!?*_~", last) >= 0:
		case last == ')' && strings.Count(text[start:end], "(") < strings.Count(text[start:end], ")"):
		case last == ']' && strings.Count(text[start:end], "[") < strings.Count(text[start:end], "]"):
		default:
			return end
		}
		end--
	}
	return end
}

// public reports whether the URL names a host that others could reach.
func public(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return strings.Contains(host, ".") && !strings.HasPrefix(host, "127.") && host != "0.0.0.0" &&
		!strings.HasSuffix(host, ".local") && !strings.HasSuffix(host, ".localhost")
}
