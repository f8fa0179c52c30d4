package task

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	language "axiommind/activities/text"
	"axiommind/schema"
)

var (
	jiraKey    = regexp.MustCompile(`^[A-Z][A-Z0-9]{1,9}-[1-9][0-9]{0,6}$`)
	gitHubName = regexp.MustCompile(`^` + gitHubRepo + `:[1-9][0-9]*$`)
	gitHubRef  = regexp.MustCompile(`^(` + gitHubRepo + `)#([1-9][0-9]*)$`)
	gitHubPath = regexp.MustCompile(`^/(` + gitHubRepo + `)/(issues|pull|pulls)/([1-9][0-9]*)(?:/.*)?$`)
	jiraPath   = regexp.MustCompile(`^/(?:.*/)?browse/([A-Za-z][A-Za-z0-9]{1,9}-[1-9][0-9]{0,6})/?$`)
	urlText    = regexp.MustCompile(`(?i)^https?://\S+$`)
)

const gitHubRepo = `[a-z0-9](?:[a-z0-9]|-[a-z0-9]){0,38}/[a-z0-9._-]{1,100}`

// notJira are names of standards and products that look like Jira keys.
var notJira = map[string]bool{
	"UTF": true, "SHA": true, "ISO": true, "RFC": true, "GPT": true, "AES": true, "MD": true, "CVE": true,
	"COVID": true, "HTTP": true, "TLS": true, "SSL": true, "ES": true, "ECMA": true, "IPV": true, "BASE": true,
	"PEP": true, "X86": true, "CLAUDE": true, "GEMINI": true, "LLAMA": true, "PYTHON": true, "JAVA": true,
	"NODE": true, "GO": true, "PHASE": true, "STEP": true, "PART": true, "DAY": true, "WEEK": true, "TOP": true,
	"LEVEL": true, "TIER": true, "VERSION": true, "STAGE": true, "PHP": true, "USB": true, "WIN": true, "Q": true,
}

// StrongArtifact parses a text that is, as a whole, a URL, a Jira key, or a GitHub issue or pull request. The first key
// is the artifact's own. If another of the keys is already known, it belongs to the same artifact: GitHub numbers
// issues and pull requests together.
func StrongArtifact(text string) ([]Key, bool) {
	text = bare(text)
	if urlText.MatchString(text) {
		return urlKeys(text)
	}
	if m := gitHubRef.FindStringSubmatch(strings.ToLower(text)); m != nil {
		return gitHubKeys(schema.ArtifactGitHubIssue, m[1], m[2]), true
	}
	upper := strings.ToUpper(text)
	if name, _, ok := strings.Cut(upper, "-"); ok && jiraKey.MatchString(upper) && !notJira[name] {
		return []Key{{Type: schema.EntityArtifact, Kind: schema.ArtifactJira, Name: upper}}, true
	}
	return nil, false
}

// KeyOfArtifact returns the key of the artifact that the text names. If the text is not a strong artifact, the key is
// the hash of the normalized text.
func KeyOfArtifact(text string) (Key, error) {
	if keys, ok := StrongArtifact(text); ok {
		return keys[0], nil
	}
	k := plainKey(text)
	if language.Title(text) == "" {
		k.Name = ""
	}
	return k, k.validate()
}

// mentions returns the strong artifacts that words of the text name, each once.
func mentions(text string) [][]Key {
	var out [][]Key
	seen := map[Key]bool{}
	for _, word := range strings.Fields(text) {
		keys, ok := StrongArtifact(word)
		// In running text only upper case distinguishes a Jira key from a product name.
		if !ok || keys[0].Kind == schema.ArtifactJira && !strings.Contains(word, keys[0].Name) && !urlText.MatchString(bare(word)) {
			continue
		}
		if !seen[keys[0]] {
			seen[keys[0]] = true
			out = append(out, keys)
		}
	}
	return out
}

// bare strips the punctuation that surrounds an identifier in running text.
func bare(text string) string {
	text = strings.TrimSpace(text)
	for {
		next := strings.TrimRight(strings.Trim(text, "<>\"'`“”‘’«»「」*_"), ".,;:!?。、，")
		if strings.HasSuffix(next, ")") && !strings.Contains(next, "(") {
			next = strings.TrimSuffix(next, ")")
		}
		if strings.HasSuffix(next, "]") && !strings.Contains(next, "[") {
			next = strings.TrimSuffix(next, "]")
		}
		if strings.HasPrefix(next, "(") || strings.HasPrefix(next, "[") {
			next = strings.TrimRight(next[1:], ")]")
		}
		if next == text {
			return text
		}
		text = next
	}
}

func gitHubKeys(kind schema.ArtifactKind, repo, number string) []Key {
	other := schema.ArtifactGitHubPull
	if kind == schema.ArtifactGitHubPull {
		other = schema.ArtifactGitHubIssue
	}
	name := strings.ToLower(repo) + ":" + number
	return []Key{
		{Type: schema.EntityArtifact, Kind: kind, Name: name},
		{Type: schema.EntityArtifact, Kind: other, Name: name},
	}
}

func urlKeys(text string) ([]Key, bool) {
	normalized, ok := language.URL(text)
	if !ok {
		return nil, false
	}
	u, err := url.Parse(normalized)
	if err != nil {
		return nil, false
	}
	if u.Host == "github.com" {
		if m := gitHubPath.FindStringSubmatch(strings.ToLower(u.Path)); m != nil {
			kind := schema.ArtifactGitHubIssue
			if m[2] != "issues" {
				kind = schema.ArtifactGitHubPull
			}
			return gitHubKeys(kind, m[1], m[3]), true
		}
	}
	if m := jiraPath.FindStringSubmatch(u.Path); m != nil {
		return []Key{{Type: schema.EntityArtifact, Kind: schema.ArtifactJira, Name: strings.ToUpper(m[1])}}, true
	}
	return []Key{{Type: schema.EntityArtifact, Kind: schema.ArtifactURL, Name: schema.HashText(normalized)}}, true
}

var (
	leadIn = regexp.MustCompile(`(?i)^(?:(?:is|are|being|still|currently) )*` +
		`(?:blocked|waiting|depends|dependent|depending|pending|held up|stuck) (?:by|on|for|upon) `)
	leadNoun = regexp.MustCompile(`(?i)^(?:(?:the|a|an|this|our) )?(?:pr|pull request|issue|ticket|jira|bug|link):? `)
	tailVerb = regexp.MustCompile(`(?i) (?:to be|is|being|gets?|has been) ` +
		`(?:merged|closed|fixed|resolved|released|done|completed|finished)$`)
)

// blockerForms are the forms of a blocker's text without the words that only express the wait: "waiting for the PR
// o/r#5 to be merged" names o/r#5.
type blockerForms struct {
	// condition is the text for the key of a condition.
	condition string
	// titles are possible titles of tasks.
	titles []string
	// artifacts are possible names of artifacts.
	artifacts []string
}

func formsOf(text string) blockerForms {
	text = strings.Join(strings.Fields(text), " ")
	f := blockerForms{condition: orElse(leadIn.ReplaceAllString(text, ""), text)}
	trimmed := strings.TrimRight(f.condition, ".!?。 ")
	core := orElse(tailVerb.ReplaceAllString(trimmed, ""), f.condition)
	for _, t := range []string{text, f.condition, core} {
		if !slices.Contains(f.titles, t) {
			f.titles = append(f.titles, t)
		}
	}
	f.artifacts = append(slices.Clone(f.titles), orElse(leadNoun.ReplaceAllString(core, ""), core))
	return f
}

// orElse returns s, or otherwise if s has no words.
func orElse(s, otherwise string) string {
	if s = strings.TrimSpace(s); language.Title(s) != "" {
		return s
	}
	return otherwise
}
