// Package redact takes secrets and private passages out of text before anything stores it or sends it on.
//
// Each finding is replaced by a placeholder that names the rule, such as [redacted: github-pat]. Findings are
//
//   - passages between <private> and </private>, and behind a <private> that is never closed;
//   - credentials of known form, by the rules of gitleaks;
//   - values with a secret's name: password=…, "api_key": "…", the password is …, in a dozen languages;
//   - the credentials of URLs, of HTTP headers and of command lines, and private keys;
//   - secrets in the forms of files and programs: .pgpass, .netrc, DSNs, options of commands, prompts, lists of codes, seed phrases;
//   - long tokens that look random, with any name or none, and base64 of a text that holds any of this.
//
// A secret is found in the text itself and in every reading of it: as JSON or a URL unescaped, and with its lines
// joined. Placeholders stay as they are.
//
// The rules are fitted to credentials. They do not find personal data in plain words, such as an address.
package redact

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"axiommind/schema"
)

// Version names the rules. It changes whenever the same text may be redacted otherwise.
const Version = "redact-6/gitleaks-8.30"

// Rules that are not gitleaks'.
const (
	// RulePrivate is for passages in <private>.
	RulePrivate = "private"
	// RuleNamed is for values with a secret's name.
	RuleNamed = "named-secret"
	// RuleURL is for the password of a URL.
	RuleURL = "url-password"
	// RuleHeader is for credentials of an HTTP header or a command line.
	RuleHeader = "authorization"
	// RuleCookie is for values of Cookie and Set-Cookie.
	RuleCookie = "cookie"
	// RulePrivateKey is for a private key, also a truncated one.
	RulePrivateKey = "private-key"
	// RulePrefixed is for tokens with the prefix of a vendor.
	RulePrefixed = "vendor-token"
	// RuleRandom is for long tokens that look random.
	RuleRandom = "high-entropy"
	// RuleEncoded is for base64 of a text that holds a secret.
	RuleEncoded = "encoded-secret"
)

// Counts are the numbers of findings by rule.
type Counts map[string]int

// Add adds the counts.
func (c *Counts) Add(more Counts) {
	if len(more) == 0 {
		return
	}
	if *c == nil {
		*c = make(Counts, len(more))
	}
	for rule, n := range more {
		(*c)[rule] += n
	}
}

// Total is how often any rule found something.
func (c Counts) Total() int {
	n := 0
	for _, each := range c {
		n += each
	}
	return n
}

// maxPasses bounds how often a text is redacted. A placeholder may make the text next to it look like a secret; two passes
// settle that. Only a text made for it takes more.
const maxPasses = 8

// Text returns the text without its secrets, and the number of secrets by rule. Invalid UTF-8 stays as it is.
func Text(text string) (string, Counts) {
	text, counts, _ := TextContext(context.Background(), text) // That one does not end.
	return text, counts
}

// TextContext is [Text] for a text of any length: it returns the context's error soon after the context ends.
func TextContext(ctx context.Context, text string) (string, Counts, error) {
	var counts Counts
	for range maxPasses {
		found, err := find(ctx, text)
		if err != nil {
			return "", nil, err
		}
		if len(found) == 0 {
			break
		}
		if counts == nil {
			counts = make(Counts)
		}
		var b strings.Builder
		at := 0
		for _, f := range found {
			b.WriteString(text[at:f.Start])
			b.WriteString(schema.Redacted(f.Rule))
			counts[f.Rule]++
			at = f.End
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	return text, counts, nil
}

// TakeOut is [TextContext] that also returns the original of each placeholder in the redacted text. If the text was
// redacted before, before holds the originals of that time. It is returned if nothing more is found.
func TakeOut(ctx context.Context, text string, before schema.Removed) (string, schema.Removed, error) {
	for range maxPasses {
		found, err := find(ctx, text)
		if err != nil {
			return "", nil, err
		}
		if len(found) == 0 {
			break
		}
		text, before = takeOut(text, found, before)
	}
	return text, before, nil
}

func takeOut(text string, found []Finding, before schema.Removed) (string, schema.Removed) {
	var b strings.Builder
	var taken schema.Removed
	// original returns the original of each placeholder in a part of the text.
	original := func(part string) schema.Removed {
		all := make(schema.Removed, 0, 1)
		for _, p := range schema.Redactions(part) {
			if len(before) > 0 {
				all, before = append(all, before[0]), before[1:]
			} else { // It is the author's own text.
				all = append(all, strings.Clone(part[p[0]:p[1]]))
			}
		}
		return all
	}
	keep := func(part string) {
		b.WriteString(part)
		taken = append(taken, original(part)...)
	}
	at := 0
	for _, f := range found {
		keep(text[at:f.Start])
		part := text[f.Start:f.End]
		whole, err := original(part).Restore(part)
		if err != nil { // There is one for each placeholder.
			panic(err)
		}
		b.WriteString(schema.Redacted(f.Rule))
		taken = append(taken, strings.Clone(whole))
		at = f.End
	}
	keep(text[at:])
	return b.String(), taken
}

// Names redacts names of files and the like in place: credentials of known form alone, since a name is often a long word
// that looks random.
func Names(names ...*string) {
	for _, name := range names {
		if *name == "" {
			continue
		}
		found := slices.DeleteFunc(Find(*name), func(f Finding) bool { return f.Rule == RuleRandom })
		for _, f := range slices.Backward(found) {
			*name = (*name)[:f.Start] + schema.Redacted(f.Rule) + (*name)[f.End:]
		}
	}
}

// Finding is a place in a text to redact, in bytes.
type Finding struct {
	Rule       string
	Start, End int
}

// Find returns the passages to redact, in order. Findings neither overlap nor touch.
func Find(text string) []Finding {
	found, _ := find(context.Background(), text) // That one does not end.
	return found
}

func find(ctx context.Context, text string) ([]Finding, error) {
	found, err := pieces.find(ctx, text)
	return merge(text, append(private(text), found...)), err
}

// compare orders findings by where they begin, the longest first, and by how much their rules say.
func compare(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(rank(a.Rule), rank(b.Rule)), cmp.Compare(a.Rule, b.Rule))
}

// merge joins findings that overlap or touch. The first one of those that begin together, or else the longest, names the
// rule; a private passage takes in all that is found within it.
func merge(text string, found []Finding) []Finding {
	slices.SortFunc(found, compare)
	var out []Finding
	for _, f := range found {
		f.Start, f.End = whole(text, f.Start, f.End)
		if n := len(out); n > 0 && f.Start <= out[n-1].End {
			last := &out[n-1]
			if rank(f.Rule) < rank(last.Rule) {
				last.Rule = f.Rule
			}
			last.End = max(last.End, f.End)
			continue
		}
		out = append(out, f)
	}
	return out
}

// rank orders rules by how much their names say.
func rank(rule string) int {
	switch rule {
	case RulePrivate:
		return 0
	case RuleNamed, RuleHeader, RuleCookie, RulePrefixed, RuleEncoded:
		return 2
	case RuleRandom:
		return 3
	}
	return 1
}

// whole widens a place to whole runes.
func whole(text string, start, end int) (from, to int) {
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return start, end
}

// without takes the placeholders, which are in order, out of the findings.
func without(found []Finding, placeholders [][2]int) []Finding {
	if len(placeholders) == 0 {
		return found
	}
	var out []Finding
	for _, f := range found {
		first := sort.Search(len(placeholders), func(i int) bool { return placeholders[i][1] > f.Start })
		for _, p := range placeholders[first:] {
			if f.End <= p[0] {
				break
			}
			if f.Start < p[0] {
				out = append(out, Finding{f.Rule, f.Start, p[0]})
			}
			f.Start = min(p[1], f.End)
		}
		if f.Start < f.End {
			out = append(out, f)
		}
	}
	return out
}

// Messages returns the messages with their texts redacted.
func Messages(messages []schema.InlineMessage) []schema.InlineMessage {
	if messages == nil {
		return nil
	}
	out := make([]schema.InlineMessage, len(messages))
	for i, m := range messages {
		m.Content, _ = Text(m.Content)
		out[i] = m
	}
	return out
}

// Strings redacts the texts in place. It is for the arguments of a person's command.
func Strings(texts ...*string) {
	for _, text := range texts {
		if text != nil {
			*text, _ = Text(*text)
		}
	}
}

// Each redacts the texts of the lists in place.
func Each(lists ...[]string) {
	for _, list := range lists {
		for i := range list {
			Strings(&list[i])
		}
	}
}
