package redact

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// form matches a secret by its surroundings, without a name that [nameRules] knows.
type form struct {
	// words are those of [seed]: the expression is run around them, so far before and behind.
	words         string
	before, after int
	// expr matches the form. Its last group that took part is the secret.
	expr func() *regexp.Regexp
	// is tells a secret from what only looks so. If it is nil, all is one but placeholders.
	is func(value string) bool
}

// tail matches the value of an option of a command line, in quotes or not.
const tail = `(?:'([^'\n]{2,128})'|"([^"\n]{2,128})"|([^\s"'` + "`" + `|;&<>]{2,128}))`

const hexDigits = "0123456789abcdef"

// cookieName matches the names of cookies by which a server knows who is logged in.
const cookieName = `(?i:(?:\w{1,24}[_.-])?(?:sess(?:ion)?|connect\.sid|sid|auth|token|csrf|xsrf|jwt|remember)(?:[_.-]?(?:token|id|key|cookie|me))?)`

var forms = []form{
	// user:password@tcp(host:port)/db, as Go's driver of MySQL writes it.
	{"@tcp( @tcp6( @unix( @cloudsql(", 200, 12, lazily(`[\w.%+-]{1,64}:([^\s"'\x60@]{1,128}(?:@[^\s"'\x60@(]{1,64})*)@(?:tcp6?|unix|cloudsql)\(`), nil},
	// user/password@host, as Oracle's programs and drivers write it.
	{"jdbc:oracle: sqlplus sqlldr sqlcl expdp impdp rman", 1, 240,
		lazily(`(?i)(?:\bjdbc:oracle:(?:thin|oci8?):|\b(?:sqlplus|sqlldr|sqlcl|expdp|impdp|rman)\b[^\n|;]{0,60}?\s["']?(?:userid=|target[ =])?)[\w$#.]{1,64}/([^\s"'@/]{2,128})@`), nil},
	{"@//", 200, 4, lazily(`(?:^|[\s"'\x60(=])[A-Za-z][\w$#.]{0,63}/([^\s"'@/]{2,128})@//[\w.-]`), nil},
	// A line of .pgpass: host:port:database:user:password.
	{":5432: :5433: :6432: :6543: :*:", 80, 240, lazily(`(?m)(?:^|[\s"'\x60])(?:[\w.-]{1,63}|\*):(?:\d{4,5}|\*):(?:[\w.-]{1,63}|\*):(?:[\w.@-]{1,63}|\*):((?:[^\s:"'\x60]|\\[:\\]){2,128})`), isNoPort},
	// A line of .netrc.
	{"login·", 160, 240, lazily(`(?m)(?:\b(?:machine[ \t]+\S+|default)\s+login|^[ \t]*login)[ \t]+\S{1,64}[ \t]*(?:\r?\n[ \t]*|[ \t])password[ \t]+(\S{2,128})(?:\s|$)`), nil},
	// The token of an address in place of its user.
	{"http:// https://", 2, 300, lazily(`(?i)\bhttps?://([^\s/:@"'\x60<>?#]{16,255})@[\w.-]`), func(v string) bool { return looksIssued(v) && !isName(v) }},
	// The path of a webhook, in small letters and digits.
	{"hook", 160, 240, lazily(`(?i)\bhttps?://[^\s"'\x60<>]{0,120}hooks?[./-](?:[^\s"'\x60<>?#]{0,120}?/)?([a-z0-9]{12,64})(?:[/?#\s"'\x60<>),.]|$)`), func(v string) bool {
		k, hash := kindsOf(v), len(v) >= 32 && strings.Trim(v, hexDigits) == ""
		return !hash && k.digits >= 2 && k.letters >= 2 && k.changes >= 5 && entropy(v) >= 3
	}},
	// Options of programs that take a password.
	{"login", 60, 240, lazily(`\b(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|cf)\b[^\n|;&]{0,40}? login\b[^\n|;&]{0,160}?\s-p[ =]?` + tail), isNoOption},
	{"redis-cli", 1, 240, lazily(`\bredis-cli\b[^\n|;&]{0,120}?\s-a[ =]?` + tail), isNoOption},
	{"ldap", 1, 300, lazily(`\bldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn)\b[^\n|;&]{0,200}?\s-w[ =]?` + tail), isNoOption},
	{"mongo", 1, 300, lazily(`\bmongo(?:sh|dump|restore|import|export|stat|top|files)?\b[^\n|;&]{0,200}?\s-p[ =]?` + tail), isNoOption},
	{"sqlcmd bcp osql", 1, 300, lazily(`\b(?:sqlcmd|bcp|osql)\b[^\n|;&]{0,200}?\s-P[ =]?` + tail), isNoOption},
	{"smbclient rpcclient smbmap", 1, 240, lazily(`\b(?:smbclient|rpcclient|smbmap)\b[^\n|;&]{0,120}?\s-U[ =]?["']?[^\s%"']{1,64}%([^\s"']{2,128})`), nil},
	{"htpasswd", 1, 240, lazily(`\bhtpasswd[ \t]+(?:-\w+[ \t]+)*-\w*b\w*[ \t]+(?:-\w+[ \t]+)*\S+[ \t]+\S+[ \t]+` + tail), isNoOption},
	// A user and a password, with a slash between them.
	{"creds credentials zugangsdaten identifiants credenciales 账号 帳號 계정", 2, 200,
		lazily(`(?i)(?:\bcreds|\bcredentials|\bzugangsdaten|\bidentifiants|\bcredenciales|账号|帳號|계정)[ \t]*(?:[:=：]|is|are|sind|sont|son)[ \t]*["'\x60]?[\w.@+-]{2,64}["'\x60]?[ \t]+/[ \t]+["'\x60]?([^\s"'\x60,;/]{4,64})`), func(v string) bool { return !isCallOrPath(v) && !isVersioned(v) }},
	{"login log·in creds", 2, 200, lazily(`(?i)\b(?:login|log in (?:with|as|using)|creds)(?: (?:with|as|is|using|are))?(?:[ \t]*[:=][ \t]*|[ \t]+)["'\x60]?[\w.@+-]{2,64}["'\x60]?[ \t]*/[ \t]*["'\x60]?([^\s"'\x60,;/]{6,64})`),
		func(v string) bool { return name{family: passwords}.standsOut(v) }},
	// The answer to a prompt.
	{"enter· retype repeat·", 2, 300, lazily(`(?i)\b(?:enter|retype|repeat)[ \t](?:[\w'-]{1,12}[ \t]){0,3}pass[ -]?(?:phrase|word|code)[^:\n]{0,120}:[ \t]+([^\s"'\x60\\)][^\n"'\x60\\]{1,127})`), func(v string) bool { return !label().MatchString(v) && !sentence().MatchString(v) }},
	// A cookie of a browser's tools, whose name and value stand apart.
	{`"value"`, 300, 600, lazily(`"name"\s*:\s*"` + cookieName + `"[^{}]{0,240}?"value"\s*:\s*"([^"\s]{8,512})"`), looksIssued},
	{`"value"`, 2, 600, lazily(`"value"\s*:\s*"([^"\s]{8,512})"[^{}]{0,240}?"name"\s*:\s*"` + cookieName + `"`), looksIssued},
	// The words of a wallet, or of a pass phrase.
	{"seed· seed: seed= phrase mnemonic", 16, 400, lazily(`(?i)\b(?:seed|mnemonic|phrase)s?\b["'\x60)]*[ \t]*(?:[:=]|is|was|are|=>)[ \t]*["'\x60]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b`), nil},
	{"pass kennwort", 8, 200, lazily(`(?i)(?:\bpass(?:word|phrase|code)|\bpasswort|\bkennwort)\b["'\x60)]*[ \t]*(?:[:=]|is|lautet|ist)[ \t]+["'\x60]?([a-z]{3,10}(?:[ -][a-z]{3,10}){3,7})["'\x60]?[ \t]*[.!]?(?:\r?\n|$)`), isFreePhrase},
	// Seeds of one-time codes, in groups as people copy them.
	{"2fa totp otp authenticator secret setup·key", 8, 200, lazily(`(?i:\b(?:2fa|t?otp|authenticator|mfa|secret|setup)\b[^\n:=]{0,24}[:=]|\b(?:2fa|t?otp|mfa)(?: key| secret| seed)? (?:is|was))[ \t]*["'\x60]?((?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4}|[A-Z2-7]{16,64})\b`), nil},
}

// isNoPort reports whether the last part of a line of .pgpass is one, and not the end of another list with colons.
func isNoPort(value string) bool {
	k := kindsOf(value)
	return k.letters > 0 && !isVersioned(value) && (k.digits > 0 || k.symbols > 0 || k.upper > 0 || len(value) >= 6)
}

// isNoOption reports whether the value of an option is not the next option.
func isNoOption(value string) bool { return !strings.HasPrefix(value, "-") }

// sentence matches words that sentences about passwords are made of, and pass phrases hardly ever.
var sentence = lazily(`(?i)\b(?:the|that|this|which|with|from|into|has|have|had|was|were|will|would|should|must|can|could|may|not|and|but|when|then|than|you|your|they|their|its|for|are|been|being|does|did|use|used|using|see|set|via|per|any|all|some|still|only|also|here|there|where|what|how|why|too|very|just|case|sensitive|long|short|least|characters|letters|stored|hashed|expired|expires|kept|sent|given|shared|known|empty|same|different|und|der|die|das|nicht|mit)\b`)

// isFreePhrase reports whether the words may be a pass phrase: none of them is one that sentences are made with.
func isFreePhrase(value string) bool {
	return !sentence().MatchString(value) && !label().MatchString(value) && !namesSecret(value)
}

// scan finds the secrets of the form.
func (f form) scan(text string, from, to int) []Finding {
	var found []Finding
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for _, m := range matches(f.expr(), text, from, to) {
		if (name{text: text, start: m[0], end: m[1]}).inPlaceholder() {
			continue
		}
		for g := len(m) - 2; g >= 2; g -= 2 {
			if m[g] < 0 {
				continue
			}
			if value := text[m[g]:m[g+1]]; !isPlaceholder(value) && (f.is == nil || f.is(value)) {
				found = append(found, Finding{RuleNamed, m[g], m[g+1]})
			}
			break
		}
	}
	return found
}

// codeList matches the introduction to a list of codes that let their owner in.
var codeList = lazily(`(?i)(?:recovery|backup|scratch|emergency|one-time|2fa)[ _-]?codes?\b["'\x60]?[^\n\[]{0,80}`)

// codeLine matches a line of it.
var codeLine = lazily(`^[ \t]*(?:\d{1,2}[.)][ \t]*|[-*•][ \t]*)?["'\x60]?([0-9A-Za-z]{3,24}(?:[ -][0-9A-Za-z]{3,24})*)["'\x60]?,?[ \t\r]*$`)

// codeWord matches one in an array.
var codeWord = lazily(`[0-9A-Za-z]{3,24}(?:[ -][0-9A-Za-z]{3,24})*`)

// maxCodes bounds the codes of a list, in bytes.
const maxCodes = 1 << 10

// scanCodes finds all codes of a list, not the first alone.
func scanCodes(text string, from, to int) []Finding {
	var found []Finding
	add := func(start, end int) {
		groups := strings.FieldsFunc(text[start:end], func(r rune) bool { return r == ' ' || r == '-' })
		if !slices.ContainsFunc(groups, func(g string) bool { return kindsOf(g).digits == 0 }) && end-start >= 6 {
			found = append(found, Finding{RuleNamed, start, end})
		}
	}
lists:
	for _, m := range matches(codeList(), text, from, to) {
		listed := false
		at, list := m[1], text[m[1]:min(len(text), m[1]+maxCodes)]
		if strings.HasPrefix(list, "[") {
			array, _, _ := strings.Cut(list, "]")
			for _, c := range matches(codeWord(), text, at, at+len(array)) {
				add(c[0], c[1])
			}
			continue
		}
		for line := range strings.Lines(list) {
			body := strings.TrimRight(line, "\n")
			c := codeLine().FindStringSubmatchIndex(body)
			switch {
			case at == m[1], strings.TrimSpace(line) == "" && !listed: // The rest of the introduction, and a blank line.
			case c == nil:
				continue lists
			default:
				listed = true
				add(at+c[2], at+c[3])
			}
			at += len(line)
		}
	}
	return found
}

// keyTail matches the end of a private key whose begin was cut off.
var keyTail = lazily(`([A-Za-z0-9+/]{16,76}={0,2}(?:\\[nr]|[\s>|])+(?:[A-Za-z0-9+/]{4,76}={0,2}(?:\\[nr]|[\s>|])+)*)-----END[ A-Z0-9_-]{0,100}PRIVATE KEY`)

// scanKeyTails finds the end of a private key whose first line is missing.
func scanKeyTails(text string, from, to int) []Finding {
	var found []Finding
	if !strings.Contains(text[from:to], "PRIVATE KEY") {
		return nil
	}
	for _, m := range matches(keyTail(), text, from, to) {
		found = append(found, Finding{RulePrivateKey, m[2], m[2] + len(strings.TrimSpace(text[m[2]:m[3]]))})
	}
	return found
}

// minEncoded is the least length of a run of base64 that is decoded, and maxEncoded the greatest.
const minEncoded, maxEncoded = 16, 1 << 20

// scanEncoded finds runs of base64 that hold a secret once they are decoded, up to three times.
func scanEncoded(text string, depth int) []Finding {
	var found []Finding
	for at := 0; at < len(text); {
		start := at
		for at < len(text) && (isAlnum(text[at]) || text[at] == '+' || text[at] == '/' || text[at] == '-' || text[at] == '_') {
			at++
		}
		if at == start {
			at++
			continue
		}
		end := at
		for at < len(text) && text[at] == '=' && at-end < 2 {
			at++
		}
		if end-start < minEncoded || end-start > maxEncoded {
			continue
		}
		plain, ok := decoded(text[start:end])
		if ok && (len(scan(plain, false)) > 0 || depth > 1 && len(scanEncoded(plain, depth-1)) > 0) {
			found = append(found, Finding{RuleEncoded, start, at})
		}
	}
	return found
}

// decoded returns the text that a run of base64 is.
func decoded(run string) (string, bool) {
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		encoding = base64.RawURLEncoding
	}
	if len(run)%4 == 1 {
		return "", false
	}
	// Most words and ids end here: their first bytes are no text.
	if head, err := encoding.DecodeString(run[:16]); err != nil || !isText(string(head)) {
		return "", false
	}
	plain, err := encoding.DecodeString(run)
	return string(plain), err == nil && isText(string(plain))
}

// isText reports whether all of it can be printed. A rune may be cut at the end.
func isText(plain string) bool {
	for i, r := range plain {
		if r == utf8.RuneError && i < len(plain)-3 || r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			return false
		}
	}
	return true
}
