package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// minRandom is the least length of a token that is redacted for its looks alone.
const minRandom = 24

// maxRandom is the length from which on something is data, such as an image, and no credential.
const maxRandom = 1 << 10

// publicPrefix matches the prefixes of public random text: digests and content ids.
var publicPrefix = lazily(`(?i)(?:sha(?:1|224|256|384|512)|md5|h1|blake[23][bs]?|integrity|etag|digest|checksum|fingerprint|hash|base64,|trace[_-]?(?:id|parent)|span[_-]?id|request[_-]?id|commit|nonce|cid|ipfs|blob|ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-[\w-]+)["']?\s*[-:=/ ]{0,3}["']?(?:W/)?["']?$`)

// contentID is a name made of a content, of IPFS and of Nix.
var contentID = lazily(`^(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,})$`)

// publicID matches the ids of services' objects: Stripe's, and those of models' messages and calls.
var publicID = lazily(`^(?:call|toolu|srvtoolu|msg|req|chatcmpl|cmpl|resp|rs|fc|run|thread|asst|step|file|batch|item|conv|sess|ses|gen|evt|cus|pi|ch|in|sub|prod|price|acct|txn|ord|inv|trace|span|job)[_-][0-9A-Za-z]+$`)

// armor matches public armored text, such as a certificate.
var armor = lazily(`(?s)-----BEGIN (?:[A-Z0-9 ]*(?:CERTIFICATE|PUBLIC KEY|CERTIFICATE REQUEST|PARAMETERS)|PGP (?:PUBLIC KEY BLOCK|MESSAGE|SIGNATURE)|SSH SIGNATURE)-----.*?-----END`)

// scanRandom finds long tokens that look random: capitals, small letters and digits by turns, and nothing that is read as text.
// Hashes and UUIDs have no capitals or no small letters; names have few digits, and words.
func scanRandom(text string) []Finding {
	var found []Finding
	var public [][]int
	if strings.Contains(text, "-----BEGIN ") {
		public = armor().FindAllStringIndex(text, -1)
	}
	for at := 0; at < len(text); at++ {
		for len(public) > 0 && at >= public[0][0] {
			at, public = max(at, public[0][1]), public[1:]
		}
		start := at
		for at < len(text) && (isToken(text[at]) || text[at] == '~') {
			at++
		}
		if at-start < minRandom {
			continue
		}
		for _, part := range parts(text, start, at) {
			if address := part[1] < len(text) && text[part[1]] == '@'; !address && isRandom(text[part[0]:part[1]]) && !inPath(text, part[0]) && !publicPrefix().MatchString(text[max(0, part[0]-32):part[0]]) {
				found = append(found, Finding{RuleRandom, part[0], part[1]})
			}
		}
	}
	return found
}

// parts splits a run of characters into possible tokens. It splits at the separators of paths, and at those of names if
// the run looks like words, but never within base64.
func parts(text string, start, end int) [][2]int {
	run := text[start:end]
	if base64Like(run) {
		return [][2]int{{start, end}}
	}
	separators := "/.=~+"
	if strings.Count(run, "-")+strings.Count(run, "_") > len(run)/12 { // Of random data, one character in 32 is either.
		separators += "-_"
	}
	var all [][2]int
	from := start
	for at := start; at <= end; at++ {
		if at < end && strings.IndexByte(separators, text[at]) < 0 {
			continue
		}
		if at-from >= minRandom {
			all = append(all, [2]int{from, at})
		}
		from = at + 1
	}
	return all
}

// base64Like reports whether the marks of base64 are spread over a run as in random data, and not as between the words
// of a path.
func base64Like(run string) bool {
	body := strings.TrimRight(run, "=")
	if len(body) < len(run) && len(run)%4 == 0 && len(run)-len(body) <= 2 && !strings.ContainsAny(body, "=.~") {
		return true // Padded to the byte.
	}
	if strings.ContainsAny(body, "=.~") {
		return false
	}
	marks := strings.Count(body, "/") + strings.Count(body, "+") + strings.Count(body, "-") + strings.Count(body, "_")
	if marks == 0 || len(body) < minRandom {
		return marks == 0
	}
	// One in 32 characters of random data is a mark.
	if float64(marks)/float64(len(body)) > 0.16 {
		return false
	}
	words := 0
	for part := range strings.FieldsFuncSeq(body, func(r rune) bool { return strings.ContainsRune("/+-_", r) }) {
		if k := kindsOf(part); isName(part) || k.letters == 0 || len(part) <= 3 {
			words += len(part)
		}
	}
	return words*3 < len(body)
}

// camelWord matches a word within a name.
var camelWord = lazily(`[A-Z]?[a-z]{3,}`)

// isName reports whether most of a token is words: of random letters a fifth looks like that.
func isName(token string) bool {
	n := 0
	for _, m := range camelWord().FindAllStringIndex(token, -1) {
		n += m[1] - m[0]
	}
	return n*5 > len(token)*3
}

// tellingPath matches the words of a URL whose path is a credential.
var tellingPath = lazily(`(?i)hook|invite|reset|token|verify|magic|login|auth|secret|signin|confirm|share=`)

// inPath reports whether a place is in the path of a URL, where ids are public.
func inPath(text string, at int) bool {
	begin := at
	for begin > 0 && at-begin < maxPath && strings.IndexByte(" \t\r\n\"'`<>()?#", text[begin-1]) < 0 {
		begin--
	}
	i := strings.Index(text[begin:at], "://")
	return i >= 0 && strings.Contains(text[begin+i+3:at], "/") && !tellingPath().MatchString(text[begin:at])
}

// maxPath bounds how far back a URL may begin.
const maxPath = 1 << 10

func isRandom(token string) bool {
	padded := strings.HasSuffix(token, "=") && len(token)%4 == 0
	token = strings.Trim(token, "=-_.~")
	n := len(token)
	if n < minRandom || n > maxRandom || contentID().MatchString(token) || publicID().MatchString(token) {
		return false
	}
	k := kindsOf(token)
	switch {
	case k.lower < 3 || k.upper < 3 || k.digits == 0 || k.digits == 1 && n < 32,
		k.symbols*5 > n,
		// Of random letters and digits every other one is of another kind than the one before.
		!padded && k.changes*20 < n*7,
		entropy(token) < 3.9,
		!padded && isName(token), isReadable(token):
		return false
	}
	return true
}

// isReadable reports whether the token is text in base64.
func isReadable(token string) bool {
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		plain, err := encoding.DecodeString(strings.TrimRight(token, "="))
		if err != nil || !utf8.Valid(plain) {
			continue
		}
		printable := 0
		for _, r := range string(plain) {
			if r >= ' ' && r != 0x7f || r == '\n' || r == '\t' || r == '\r' {
				printable++
			}
		}
		return printable == utf8.RuneCount(plain)
	}
	return false
}
