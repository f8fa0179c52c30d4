package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// lazily compiles a regular expression when it is first needed: a hook of an agent, which looks at a few messages or at
// none, starts for each turn.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// seed says around which words one of the rules here looks, and how far. A blank is written as ·, a tab as ⇥.
type seed struct {
	words         string
	before, after int
	// find finds the secrets of a text in the windows, which are in order and do not overlap.
	find func(text string, windows [][2]int) []Finding
	// loose says that joined lines hold ordinary text that looks the same.
	loose bool
}

// each runs a rule that needs to know of one window at a time.
func each(find func(text string, from, to int) []Finding) func(string, [][2]int) []Finding {
	return func(text string, windows [][2]int) (found []Finding) {
		for _, w := range windows {
			found = append(found, find(text, w[0], w[1])...)
		}
		return found
	}
}

var seeds = allSeeds()

func allSeeds() []seed {
	all := otherSeeds
	for _, r := range nameRules {
		all = append(all, seed{words: r.words, before: 24, after: 16, find: r.scan})
	}
	for _, p := range programs {
		f := programForm(p.words, p.names, p.option)
		all = append(all, seed{words: f.words, before: f.before, after: f.after, find: each(f.scan), loose: true})
	}
	for _, f := range forms {
		all = append(all, seed{words: f.words, before: f.before, after: f.after, find: each(f.scan), loose: true})
	}
	return all
}

var otherSeeds = []seed{
	{words: "_key _pass _pwd _pw _auth _creds", before: 64, after: 2, find: scanEnvKeys},
	{words: "private·key putty-user-key", before: 120, after: 0, find: each(scanKeys)},
	{words: "://", before: 32, after: 600, find: each(scanURLs), loose: true},
	{words: "bearer basic apikey negotiate token aws4-hmac-sha256", before: 1, after: 4 << 10, find: each(scanAuth), loose: true},
	{words: "-u --proxy-user", before: 2, after: 256, find: each(scanOptions), loose: true},
	{words: prefixWords, before: 2, after: 300, find: each(scanPrefixed), loose: true},
	{words: "codes códigos 恢复 备用 복구 백업 リカバリ", before: 24, after: 1 << 10, find: each(scanCodes), loose: true},
	{words: "-----end", before: 8 << 10, after: 120, find: each(scanKeyTails), loose: true},
	{words: "cookie", before: 5, after: 4 << 10, find: each(scanCookies), loose: true},
}

// scan finds secrets in one reading of a text. In lines that were joined and may not belong together, it finds only
// credentials of known form and named ones, because ordinary text looks like the others there.
func scan(text string, joined bool) []Finding {
	r := allRules()
	var found []Finding
	for i, windows := range r.windows(lowerASCII(text)) {
		if i >= len(r.known) {
			if s := seeds[i-len(r.known)]; !joined || !s.loose {
				found = append(found, s.find(text, windows)...)
			}
			continue
		}
		for _, w := range windows {
			found = append(found, r.run(&r.known[i], text, w[0], w[1])...)
		}
	}
	if joined {
		return found
	}
	return append(append(found, scanRandom(text)...), scanPgpass(text)...)
}

// maxDecoded bounds how often a run of base64 is decoded.
const maxDecoded = 3

var keyBegins = lazily(`-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[0-9]`)

var keyEnds = lazily(`-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-fA-F]+`)

// keyText matches text that a truncated key may contain: base64, headers of armour, and the line breaks, prefixes and
// escapes of a quotation.
var keyText = lazily(`^(?:[A-Za-z0-9+/=_-]{16,}|[A-Za-z0-9+/=]{1,76}(?:["'\x60]|\s*$)|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n]*|[\s>|#*"'\x60,;+]|\\[nrt\\"])+`)

// scanKeys finds private keys that begin in a window. A truncated key goes as far as text that a key may contain.
func scanKeys(text string, from, to int) []Finding {
	var found []Finding
	for at := from; at < to; {
		m := keyBegins().FindStringIndex(text[at:min(len(text), to+16)])
		if m == nil {
			return found
		}
		start, body := at+m[0], at+m[1]
		next := len(text)
		if n := keyBegins().FindStringIndex(text[body:]); n != nil {
			next = body + n[0]
		}
		if end := keyEnds().FindStringIndex(text[body:next]); end != nil {
			at = body + end[1]
		} else if at = body + len(keyText().FindString(text[body:next])); at-body < minWrapped {
			at = body // It speaks of a key.
			continue
		}
		found = append(found, Finding{RulePrivateKey, start, at})
	}
	return found
}

var urlPassword = lazily(`(?i)\b[a-z][a-z0-9+.-]{1,30}://[^\s/:@"'\x60<>]{0,128}:([^\s/"'\x60<>][^\s"'\x60<>]{0,255}?)@[\w.\[\]-]`)

// scanURLs finds passwords of URLs.
func scanURLs(text string, from, to int) []Finding {
	var found []Finding
	covered := 0
	for _, m := range matches(urlPassword(), text, from, to) {
		end := m[3]
		if end < covered { // It is within the password before.
			continue
		}
		// A password may hold the mark itself: it ends at the last one before the path. Those of databases are often not
		// escaped, so that a slash may be a part of them too.
		rest, stops := text[end:min(len(text), end+maxLine)], " \t\r\n\"'`<>,"
		if scheme := lowerASCII(text[m[0]:min(len(text), m[0]+5)]); strings.HasPrefix(scheme, "http") || strings.HasPrefix(scheme, "ssh") || strings.HasPrefix(scheme, "git") {
			stops += "/?#"
		}
		if i := strings.IndexAny(rest, stops); i >= 0 {
			rest = rest[:i]
		}
		if i := strings.LastIndexByte(rest, '@'); i > 0 {
			end += i
		}
		value := text[m[2]:end]
		if slash := strings.IndexByte(value, '/'); slash >= 0 && isPort(value[:slash]) {
			continue
		}
		if !isPlaceholder(value) {
			found, covered = append(found, Finding{RuleURL, m[2], end}), end
		}
	}
	return found
}

// isPort reports whether the text after a colon is the port of a host, so that a later mark belongs to the path.
func isPort(text string) bool {
	return len(text) <= 5 && strings.Trim(text, "0123456789") == ""
}

var (
	authScheme  = lazily(`(?i)\b(?:bearer|basic|apikey|negotiate|token|aws4-hmac-sha256)[ \t:]+["']?([A-Za-z0-9._~+/:-]{8,}=*)`)
	userOption  = lazily(`(?:\s|^|["'])(?:-u|--user|--proxy-user|-U)[ =]?["']?([^\s"':]{1,64}):([^\s"']{3,128})`)
	cookieLine  = lazily(`(?i)\b(?:set-)?cookie["']?\s*[:=]\s*["']?([^\n]{1,1000})`)
	cookieValue = lazily(`([A-Za-z0-9_.-]{1,64})=([A-Za-z0-9%._~+/=:-]{8,})`)
)

// matches are those of an expression in a window, as places in the text.
func matches(re *regexp.Regexp, text string, from, to int) [][]int {
	all := re.FindAllStringSubmatchIndex(text[from:to], -1)
	for _, m := range all {
		for i := range m {
			if m[i] >= 0 {
				m[i] += from
			}
		}
	}
	return all
}

// scanAuth finds credentials behind the name of a scheme of HTTP's authentication.
func scanAuth(text string, from, to int) []Finding {
	var found []Finding
	for _, m := range matches(authScheme(), text, from, to) {
		value, scheme := text[m[2]:m[3]], lowerASCII(text[m[0]:m[0]+5])
		switch {
		case isPlaceholder(value):
		case scheme == "basic" && isUserAndPassword(value), looksIssued(value), scheme != "token" && isToken64(value):
			found = append(found, Finding{RuleHeader, m[2], m[3]})
		}
	}
	return found
}

// prefixWords are how tokens of many vendors begin; prefixed matches them, also where gitleaks knows none, or fewer letters.
const prefixWords = "akia asia sk- sk_ pk_live rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glrt- xox gocspx- hf_ npm_ pypi- dckr_ dop_ doo_ shpat_ shpss_ lin_api_ ntn_ secret_ " +
	"rubygems_ sg. hvs. hvb. dapi phc_ phx_ figd_ re_ pat_ tvly- gsk_ r8_ xai- nvapi- pplx- sbp_ age-secret-key-"

var prefixed = lazily(`(?i)(?:^|[^0-9A-Za-z_-])((?:(?-i:A(?:KIA|SIA))[0-9A-Z]{14,}|(?:sk|rk)[-_](?:[a-z0-9]+[-_])*|pk_live_|gh[pousr]_|github_pat_|gl(?:pat|rt)-|xox[a-z]-|gocspx-|` +
	`hf_|npm_|pypi-|dckr_[a-z]+_|do[op]_v1_|shp(?:at|ss)_|lin_api_|ntn_|secret_|rubygems_|sg\.|hv[sb]\.|dapi|ph[cx]_|figd_|re_|pat_|tvly-|gsk_|r8_|xai-|nvapi-|pplx-|sbp_|` +
	`age-secret-key-1)[0-9A-Za-z_.-]{14,})`)

// scanPrefixed finds tokens with a vendor's prefix that continue like no word.
func scanPrefixed(text string, from, to int) []Finding {
	var found []Finding
	for _, m := range matches(prefixed(), text, from, to) {
		end := wordEnd(text, m[2]+len(strings.TrimRight(text[m[2]:m[3]], ".-_")))
		value := text[m[2]:end]
		issued := value[strings.LastIndexAny(value[:min(len(value), 16)], "_-.")+1:]
		k := kindsOf(issued)
		slug := strings.ContainsAny(issued, "_-.") && isName(issued)
		if !isPlaceholder(value) && !slug && entropy(value) >= 3.2 && k.changes >= 4 && (k.digits > 0 || k.upper >= 4 && k.lower >= 4) {
			found = append(found, Finding{RulePrefixed, m[2], end})
		}
	}
	return found
}

// scanOptions finds passwords behind a user and a colon, in the option of a command.
func scanOptions(text string, from, to int) []Finding {
	var found []Finding
	for _, m := range matches(userOption(), text, from, to) {
		if value := text[m[4]:m[5]]; !isPlaceholder(value) && strings.Trim(value, "0123456789") != "" {
			found = append(found, Finding{RuleHeader, m[4], m[5]})
		}
	}
	return found
}

// scanCookies finds values of cookies.
func scanCookies(text string, from, to int) []Finding {
	var found []Finding
	for _, line := range matches(cookieLine(), text, from, to) {
		for _, m := range matches(cookieValue(), text, line[2], line[3]) {
			if looksIssued(text[m[4]:m[5]]) {
				found = append(found, Finding{RuleCookie, m[4], m[5]})
			}
		}
	}
	return found
}

// isUserAndPassword reports whether a value is that of Basic authentication.
func isUserAndPassword(value string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	return err == nil && utf8.Valid(plain) && strings.Contains(string(plain), ":")
}

// isToken64 reports whether a value is long and of more than letters.
func isToken64(value string) bool {
	return len(value) >= 20 && strings.ContainsAny(value, "0123456789")
}

// looksIssued reports whether a program made the value: it has letters and digits, and their order is no word's.
func looksIssued(value string) bool {
	k := kindsOf(value)
	return len(value) >= 12 && k.digits > 0 && k.letters > 0 && !isVersioned(value) && (entropy(value) >= 2.8 || k.symbols > 0 && entropy(value) >= 2.4)
}

// kinds counts the characters of a value by kind.
type kinds struct {
	lower, upper, letters, digits, symbols, other int
	// changes is how often the kind changes from one character to the next.
	changes int
}

func kindsOf(value string) (k kinds) {
	last := byte(0)
	for i := range len(value) {
		kind := byte('s')
		switch c := value[i]; {
		case 'a' <= c && c <= 'z':
			kind = 'l'
			k.lower++
		case 'A' <= c && c <= 'Z':
			kind = 'u'
			k.upper++
		case '0' <= c && c <= '9':
			kind = 'd'
			k.digits++
		case c >= utf8.RuneSelf:
			kind = 'o'
			k.other++
		default:
			k.symbols++
		}
		if i > 0 && kind != last {
			k.changes++
		}
		last = kind
	}
	k.letters = k.lower + k.upper
	return k
}
