package redact

import (
	"encoding/base64"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// form matches a secret by its surroundings, without a name that [nameRules] knows.
type form struct {
	// words are those of [seed]: the expression is run around them, so far before and behind.
	words         string
	before, after int
	// expr matches the form. Its last group that took part is the secret.
	expr func() *regexp.Regexp
	// isSecret reports whether the value is a secret. If it is nil, every value but a placeholder is one.
	isSecret func(value string) bool
}

// tail matches the value of an option of a command line, in quotes or not.
const tail = `(?:'([^'\n]{2,128})'|"([^"\n]{2,128})"|([^\s"'` + "`" + `|;&<>]{2,128}))`

const hexDigits = "0123456789abcdef"

// cookieName matches the names of cookies by which a server knows who is logged in.
const cookieName = `(?i:(?:\w{1,24}[_.-])?(?:sess(?:ion)?|connect\.sid|sid|auth|token|csrf|xsrf|jwt|remember)(?:[_.-]?(?:token|id|key|cookie|me))?)`

var forms = []form{
	// user:password@tcp(host:port)/db, as Go's driver of MySQL writes it.
	{"@tcp( @tcp6( @unix( @cloudsql( @( @/", 200, 12, lazily(`[\w.%+-]{1,64}:([^\s"'\x60@]{1,128}(?:@[^\s"'\x60@(]{1,64})*)@(?:(?:tcp6?|unix|cloudsql)\(|\([\w.-]+:\d+\)|/\w+\b)`), nil},
	// user/password@host, as Oracle's programs and drivers write it.
	{"jdbc:oracle: sqlplus sqlldr sqlcl expdp impdp rman conn· connect· connect( imp· exp·", 1, 240,
		lazily(`(?i)(?:\bjdbc:oracle:(?:thin|oci8?):|\b(?:conn|connect)[ \t(]+["']?|\b(?:sqlplus|sqlldr|sqlcl|expdp|impdp|imp|exp|rman)\b[^\n|;]{0,60}?\s["']?(?:userid=|target[ =])?)[\w$#.]{1,64}/"?([^\s"'@/]{2,128})"?@`), isNoVersion},
	{":1521", 200, 4, lazily(`(?:^|[\s"'\x60(=])[A-Za-z][\w$#.]{0,63}/([^\s"'@/]{2,128})@[\w.-]+:1521`), nil},
	{"@//", 200, 4, lazily(`(?:^|[\s"'\x60(=])[A-Za-z][\w$#.]{0,63}/([^\s"'@/]{2,128})@//[\w.-]`), nil},
	// A line of .netrc.
	{"login·", 240, 240, lazily(`(?m)(?:\b(?:machine[ \t]+\S+|default)\s+login|^[ \t]*login)[ \t]+\S{1,64}[ \t]*(?:\r?\n[ \t]*|[ \t])(?:account[ \t]+\S+\s+)?password[ \t]+(\S{2,128})(?:\s|$)|\bmachine[ \t]+\S+\s+password[ \t]+(\S{2,128})\s+login\b`), nil},
	// The token of an address in place of its user.
	{"http:// https://", 2, 300, lazily(`(?i)\bhttps?://([^\s/:@"'\x60<>?#]{16,255}):?@[\w.-]`), func(v string) bool { return looksIssued(v) && !isName(v) }},
	// The path of a webhook: an id, or small letters and digits.
	{"hook", 160, 240, lazily(`(?i)\bhttps?://(?:[^\s"'\x60<>]{0,120}?hooks?[a-z0-9-]{0,8}/(?:[^\s"'\x60<>?#]{0,120}?/)??([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\S{0,128})|webhook\.site/([0-9a-f-]{36})|hooks\.zapier\.com/hooks/catch/(\d+/\w{4,}))`), nil},
	{"/bot maker.ifttt.com", 24, 160, lazily(`/bot(\d{8,10}:[\w-]{35})\b|maker\.ifttt\.com/\S{1,100}/key/([\w-]{16,})`), nil},
	{"hook", 160, 240, lazily(`(?i)\bhttps?://[^\s"'\x60<>]{0,120}hooks?[./-](?:[^\s"'\x60<>?#]{0,120}?/)?([a-z0-9]{12,64})(?:[/?#\s"'\x60<>),.]|$)`), func(v string) bool {
		k, hash := kindsOf(v), len(v) >= 32 && strings.Trim(v, hexDigits) == ""
		return !hash && k.digits >= 2 && k.letters >= 2 && k.changes >= 5 && entropy(v) >= 3
	}},
	{"smbclient rpcclient smbmap", 1, 240, lazily(`\b(?:smbclient|rpcclient|smbmap)\b[^\n|;&]{0,120}?\s-U[ =]?["']?[^\s%"']{1,64}%([^\s"']{2,128})`), nil},
	{"htpasswd", 1, 240, lazily(`\bhtpasswd[ \t]+(?:-\w+[ \t]+)*-\w*b\w*[ \t]+(?:-\w+[ \t]+)*\S+[ \t]+\S+[ \t]+` + tail), isNoOption},
	{"chpasswd", 160, 2, lazily(`[\w.-]+:([^\s"'|]{2,128})["']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd`), nil},
	{"sudo·-s", 160, 2, lazily(`\becho[ \t]+` + tail + `[ \t]*\|[ \t]*sudo[ \t]+-S`), nil},
	// A private key without its first line: how its bytes begin in base64.
	{"mii mhccaqee mighagea b3blbnnzac1rzxk", 2, 16 << 10, lazily(`\b((?:MII[\w+/]{2}[AQgw]IBA|MHcCAQEE|MIGHAgEA|b3BlbnNzaC1rZXktdj)[A-Za-z0-9+/]{40,}(?:(?:\\[nr]|[\s>|])+[A-Za-z0-9+/]{16,76})*={0,2})`), nil},
	// A user and a password, with a slash between them.
	{"creds credentials zugangsdaten identifiants credenciales 账号 帳號 계정", 2, 200,
		lazily(`(?i)(?:\bcreds|\bcredentials|\bzugangsdaten|\bidentifiants|\bcredenciales|账号|帳號|계정)[ \t]*(?:[:=：–-]|is|are|sind|sont|son)[ \t]*["'\x60]?[\w.@+-]{2,64}["'\x60]?[ \t]+/[ \t]+["'\x60]?([^\s"'\x60,;/]{4,64})`), func(v string) bool { return !isCallOrPath(v) && !isVersioned(v) }},
	{"login log·in sign·in creds credentials user/pass", 2, 200, lazily(`(?i)\b(?:login|(?:log|sign) in (?:with|as|using)|creds|credentials|user/pass(?:word)?)(?: (?:with|as|is|using|are))?(?:[ \t]*[:=][ \t]*|[ \t]+)["'\x60]?[\w.@+-]{2,64}["'\x60]?[ \t]*[/:][ \t]*["'\x60]?([^\s"'\x60,;/:][^\s"'\x60,;/]{5,63})`),
		func(v string) bool { return name{family: passwords}.standsOut(v) }},
	// The answer to a prompt.
	{"enter· retype repeat·", 2, 300, lazily(`(?i)\b(?:enter|retype|repeat)[ \t](?:[\w'-]{1,12}[ \t]){0,3}pass[ -]?(?:phrase|word|code)[^:\n]{0,120}:[ \t]+([^\s"'\x60\\)][^\n"'\x60\\]{1,127})`), func(v string) bool { return !label().MatchString(v) && !sentence().MatchString(v) }},
	// A cookie of a browser's tools, whose name and value are separate.
	{"value", 300, 600, lazily(`\bname["']?\s*[:=]\s*["']?` + cookieName + `\b["']?[^{}]{0,240}?\bvalue["']?\s*[:=]\s*["']?([^"'\s]{8,512})`), looksIssued},
	{"value", 2, 600, lazily(`\bvalue["']?\s*[:=]\s*["']?([^"'\s]{8,512})["'][^{}]{0,240}?\bname["']?\s*[:=]\s*["']?` + cookieName + `["']`), looksIssued},
	// A line of a file or a table of cookies, and a call that sets one.
	{"session⇥ id⇥ sid⇥ token⇥ auth⇥ jwt⇥ session·| id·| sid·| token·| cookies.set setcookie set_cookie", 40, 560, lazily(`(?:^|[\s|"'])` + cookieName + `(?:[ \t]*\t[ \t]*|[ \t]*\|[ \t]*)([^"'\s|]{16,512})(?:[\s|]|$)|(?i:cookies?\.set|set_?cookie)\(["']` + cookieName + `["'],[ \t]*["']([^"'\s]{8,512})`), func(v string) bool { return looksIssued(v) && !isName(v) }},
	// The words of a wallet, in a line or a list.
	{"seed mnemonic phrase wallet 助记词 semilla 12·words 24·words", 16, 600, lazily(`(?i)(?:(?:\b|_|pass)(?:seed|mnemonic|phrase|wallet|semilla|(?:12|24) words)|(?-i:Seed|Mnemonic|Phrase|Wallet)|助记词)[^\n]{0,60}?(?:[:：=>"'\x60]|\bis\b|\bare\b|\n)[\s*"'\x60]*` +
		`((?:(?:\d{1,2}[.):]?[ \t]*)?[a-z]{3,8}(?:[ ,\t]+|[ \t]*\r?\n[ \t>*-]*)){11,31}(?:\d{1,2}[.):]?[ \t]*)?[a-z]{3,8})\b`), isSeedPhrase},
	// The code of a wireless network.
	{"wifi:", 1, 400, lazily(`(?i)\bwifi:(?:[^\n]{0,200}?;)?P:((?:\\.|[^;\n\\]){1,128});`), nil},
	// Seeds of one-time codes, in groups as people copy them.
	{"2fa totp otp authenticator mfa two-factor secret setup·key oathtool", 8, 200, lazily(`(?i:(?:\b|_)(?:2fa|t?otp|authenticator|mfa|two-factor|secret|setup)(?:\b|_)[^\n:=]{0,24}(?:[:=]|\bis\b|\bwas\b|\n)|\boathtool\b[^\n]{0,40}?)[ \t]*["'\x60]?((?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4}|[A-Z2-7]{16,64})\b`), nil},
}

// isNoVersion reports whether the value is a password, and no version or file.
func isNoVersion(value string) bool { return !isVersioned(value) }

// isNoPort reports whether the last part of a line of .pgpass is one, and not the end of another list with colons.
func isNoPort(value string) bool {
	k := kindsOf(value)
	return k.letters > 0 && !isVersioned(value) && (k.digits > 0 || k.symbols > 0 || k.upper > 0 || len(value) >= 6)
}

// isNoOption reports whether the value of an option is not the next option.
func isNoOption(value string) bool { return !strings.HasPrefix(value, "-") }

// sentence matches words that sentences about passwords are made of, and pass phrases hardly ever.
var sentence = lazily(`(?i)\b(?:the|that|this|which|with|from|into|has|have|had|was|were|will|would|should|must|can|could|may|not|and|but|when|then|than|you|your|they|their|its|for|are|been|being|does|did|use|used|using|see|set|via|per|any|all|some|still|only|also|here|there|where|what|how|why|too|very|just|case|sensitive|long|short|least|options?|flags?|arguments?|parameters?|fields?|prompts?|characters|letters|stored|hashed|expired|expires|kept|sent|given|shared|known|empty|same|different|und|der|die|das|nicht|mit)\b`)

// isFreePhrase reports whether the words may be a pass phrase: none of them is one that sentences are made with.
func isFreePhrase(value string) bool {
	return !sentence().MatchString(value) && !label().MatchString(value) && !namesSecret(value)
}

// isSeedPhrase reports whether the words are those of a wallet. Its list has a few of the words that sentences are made of.
func isSeedPhrase(value string) bool {
	words := strings.FieldsFunc(value, func(r rune) bool { return r < 'a' || r > 'z' })
	return 3*len(sentence().FindAllString(value, -1)) <= len(words)
}

// programs take a password as an option: their names, the words by which they are found, and the option.
var programs = []struct{ words, names, option string }{
	{"login", `(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|cf)\b[^\n|;&]{0,40}? login`, `-p[ =]?`},
	{"redis-cli valkey-cli", `redis-cli|valkey-cli`, `-a[ =]?`},
	{"ldap", `ldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn)`, `-w[ =]?`},
	{"mongo sshpass rabbitmqadmin cqlsh cypher-shell crackmapexec netexec evil-winrm psexec",
		`mongo(?:sh|dump|restore|import|export|stat|top|files)?|sshpass|rabbitmqadmin|cqlsh|cypher-shell|crackmapexec|netexec|evil-winrm|psexec`, `-p[ =]?`},
	{"sqlcmd bcp osql ipmitool mosquitto_ zip", `sqlcmd|bcp|osql|ipmitool|mosquitto_\w+|(?:un)?zip`, `-P[ =]?`}, //nolint:misspell // a program
	{"mysql mariadb 7z", `mysql(?:dump|admin)?|mariadb|7za?`, `-p`},
	{"mysqladmin nmcli", `mysqladmin|nmcli`, `password `},
	{"openssl", `openssl`, `(?:-k |-pass(?:in|out)? pass:)`},
	{"keytool jarsigner", `keytool|jarsigner`, `-(?:src|dest)?(?:store|key)pass[ =]`},
	{"schtasks", `schtasks`, `/rp `},
	{"freerdp", `[xw]?freerdp3?`, `/p:`},
	{"lftp", `lftp`, `-u \S+?,`},
	{"wpa_passphrase rabbitmqctl", `wpa_passphrase|rabbitmqctl (?:add_user|change_password)`, `\S+ `},
}

// programForm returns the form of a program's command lines.
func programForm(words, names, option string) form {
	return form{words, 60, 300, lazily(`\b(?:` + names + `)\b[^\n|;&]{0,200}?\s(?:` + option + `)` + tail), isNoOption}
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
			if value := text[m[g]:m[g+1]]; !isPlaceholder(value) && (f.isSecret == nil || f.isSecret(value)) {
				found = append(found, Finding{RuleNamed, m[g], m[g+1]})
			}
			break
		}
	}
	return found
}

// codeList matches the introduction to a list of codes that let their owner in.
var codeList = lazily(`(?i)(?:(?:recovery|backup|scratch|emergency|one-time|2fa)[ _-]?codes?\b|wiederherstellungscodes?|códigos de (?:recuperación|respaldo)|codes de (?:récupération|secours)|恢复代?码|备用代?码|복구 ?코드|백업 ?코드|リカバリーコード)["'\x60]?`)

// codeLine matches a line of nothing but codes, and the marks of lists, tables and arrays.
var codeLine = lazily(`^[ \t>|*•–:=\[\](){}"'\x60-]*(?:\d{1,2}[.)]|\[[ x]?\])?[ \t|"'\x60]*([0-9A-Za-z]{3,24}(?:[ \t,;|"'\x60-]+[0-9A-Za-z]{3,24})*)["'\x60]?[ \t\r,.;|\](){}]*$`)

// codeWord matches a code, in groups or not.
var codeWord = lazily(`[0-9A-Za-z]{3,24}(?:[ -][0-9A-Za-z]{3,24})*`)

// maxCodes bounds the codes of a list, in bytes.
const maxCodes = 1 << 10

// scanCodes finds all codes of a list, not the first alone.
func scanCodes(text string, from, to int) []Finding {
	var found []Finding
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for _, m := range matches(codeList(), text, from, to) {
		at, listed := m[1], false
		for line := range strings.Lines(text[m[1]:min(len(text), m[1]+maxCodes)]) {
			c := codeLine().FindStringSubmatchIndex(strings.TrimRight(line, "\n"))
			switch {
			case c != nil:
				for _, code := range matches(codeWord(), text, at+c[2], at+c[3]) {
					groups := strings.FieldsFunc(text[code[0]:code[1]], func(r rune) bool { return r == ' ' || r == '-' })
					if code[1]-code[0] >= 6 && !slices.ContainsFunc(groups, func(g string) bool { return kindsOf(g).digits == 0 }) {
						found, listed = append(found, Finding{RuleNamed, code[0], code[1]}), true
					}
				}
			case at > m[1] && (listed || strings.TrimSpace(line) != ""):
				line = "" // The list has ended.
			}
			if line == "" {
				break
			}
			at += len(line)
		}
	}
	return found
}

// pgpass matches a line of .pgpass: host:port:database:user:password.
var pgpass = lazily(`^(?:[\w./-]{1,80}|\*|\[[0-9a-f:]+\]):(\d{4,5}|\*):(?:[\w.-]{1,63}|\*):(?:[\w.@-]{1,63}|\*):((?:[^\s:"'\x60\\]|\\.){2,128})(?:[\s"'\x60]|$)`)

// pgPorts are ports that PostgreSQL and its poolers listen on. Behind another one, letters alone are no password.
var pgPorts = []string{"*", "5432", "5433", "6432", "6543", "25060", "26257"}

// scanPgpass finds the passwords of lines of .pgpass.
func scanPgpass(text string) []Finding {
	var found []Finding
	known := strings.Contains(text, "pgpass")
	for at := 0; ; {
		n := strings.IndexByte(text[at:], ':')
		if n < 0 {
			return found
		}
		at += n + 1
		port, _, ok := strings.Cut(text[at:min(len(text), at+6)], ":")
		if !ok || port != "*" && (len(port) < 4 || strings.Trim(port, "0123456789") != "") {
			continue
		}
		start := max(0, at-82) // A host has 80 characters at most.
		start += strings.LastIndexAny(text[start:at-1], " \t\r\n\"'`") + 1
		line := text[start:min(len(text), at+maxPath/2)]
		m := pgpass().FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		value := line[m[4]:m[5]]
		if k := kindsOf(value); !isPlaceholder(value) && isNoPort(value) && (known || k.digits+k.symbols+k.upper > 0 || slices.Contains(pgPorts, line[m[2]:m[3]])) {
			found = append(found, Finding{RuleNamed, start + m[4], start + m[5]})
		}
		known, at = known || len(found) > 0, start+m[5]
	}
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

// decoded returns the text that a run of base64 begins with, also one in UTF-16 as PowerShell takes it. In joined
// lines, the next word may follow it.
func decoded(run string) (string, bool) {
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		encoding = base64.RawURLEncoding
	}
	// Most words and ids end here: their first bytes are no text.
	head, err := encoding.DecodeString(run[:minEncoded])
	wide := err == nil && isWide(head)
	if err != nil || !wide && !isText(string(head)) {
		return "", false
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	plain, err := encoding.DecodeString(run)
	if wide {
		units := make([]uint16, len(plain)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(plain[2*i:])
		}
		plain = []byte(string(utf16.Decode(units)))
	}
	return string(plain), err == nil && isText(string(plain))
}

// isWide reports whether each second byte is zero, as in UTF-16 of letters.
func isWide(plain []byte) bool {
	for i := 1; i < len(plain); i += 2 {
		if plain[i] != 0 || plain[i-1] == 0 {
			return false
		}
	}
	return true
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
