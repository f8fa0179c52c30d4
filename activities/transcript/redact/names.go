package redact

import (
	"regexp"
	"slices"
	"strings"
)

// family is a kind of secret.
type family int

const (
	// passwords are chosen by people: almost any value is one.
	passwords family = iota + 1
	// tokens are made by programs.
	tokens
	// codes are a few characters that open a door: digits, mostly.
	codes
	// sessions are made by programs too, and are secret in cookies alone: elsewhere they name a conversation.
	sessions
)

// nameRule matches words that call something secret, near one of its own words. Each has an expression of its own, because one
// for all of them takes microseconds for each byte. It is run over small letters, where it need not fold those of ASCII.
type nameRule struct {
	family family
	// words are parts of the names, in small letters. A blank is written as ·.
	words string
	expr  func() *regexp.Regexp
}

var nameRules = []nameRule{
	{passwords, "pass", lazily(`(?:mot[ _-]?de[ _-]?|palavra-)?passe\b|pass[_ -]?(?:words?|phrases?|codes?|wd)|passwort|[_.-]pass\b|\bpass(?:=|\s?:\s|["']\]?\s*(?::|=>?)|\s*=\s*["'])|\b(?:the|my|our|your|his|her|their)[ \t]pass\b|\bpass[ \t](?:is|was|-)[ \t]|\bpass\s?=>|(?m:^)[ \t]*pass[ \t]*=|[a-z]pass["']?\s?(?::=?|=>?)\s?["']|\bpass(?:>|\s?:=)`)},
	{passwords, "pwd", lazily(`\bpwd|_pwd|userpwd|pgpwd`)},
	{passwords, "pw= pw: pw\" pw' pw·", lazily(`\bpw(?:=|\s?:\s|["']\s*(?::|=>)|\s*=\s*["'])|\b(?:the|my|our|your|his|her|their)[ \t]pw\b|\bpw[ \t](?:is|was)\b`)},
	{codes, "pin\" pin' pin: pin= pin· pin_ pincode puk", lazily(`\b(?:pin(?:[ _-]?code)?|puk)\b`)},
	{passwords, "kennwort wachtwoord lösenord adgangskode contrase senha parola·d hasło şifre mật·khẩu арол", lazily(
		`(?i)kennwort|wachtwoord|lösenord|adgangskode|contraseñas?|contrasenya|contrasena|\bsenhas?|parola d'ordine|hasło|парол[ья]|şifre|mật khẩu`)},
	{passwords, "비밀 비번 암호 패스워드 密码 密碼 密·码 密·碼 口令 パス 暗証", lazily(
		`비밀\s?번호|비번|암호|패스워드|密\s?[码碼]|口令|パスワード|パスコード|暗証番号`)},
	{passwords, "psk pre-shared preshared wifi wi-fi wlan wpa", lazily(`(?i)(?:\b|_)psk\b|\bpre-?shared[ _-]?key\b|\bwpa2?[ _-]?(?:psk|key|passphrase)\b|\b(?:wi-?fi|wlan)[ _-]?(?:key|code|schlüssel)\b`)},
	{codes, "code cvv cvc", lazily(`\b(?:door|gate|garage|entry|entrance|alarm|safe|locker|lock(?:box)?|building|access|security|keypad)[ _-]?codes?\b|` +
		`\bcodes? (?:for|to|of) the (?:front |back )?(?:door|gate|garage|alarm|safe|locker|building|house)\b|türcode\b|\bcv[vc]2?(?: code)?\b`)},
	{tokens, "secret", lazily(`secret[ _-]?(?:access[ _-]?)?keys?(?: base\b)?|secrets?`)},
	{tokens, "token credential bearer mnemonic", lazily(`tokens?|credentials?|bearer|mnemonic`)},
	{passwords, "identified·by", lazily(`identified by`)},
	{tokens, "pepper phpsessid jsessionid aspnet_sessionid asp.net_sessionid connect.sid", lazily(`pepper|phpsessid|jsessionid|asp\.?net_sessionid|connect\.sid`)},
	{tokens, "auth", lazily(`\b_?auth\b`)},
	{tokens, "otp", lazily(`\b(?:t?otp)(?:[ _-]?(?:seed|key))?\b`)},
	{tokens, "key", lazily(
		`(?:api|app|application|access|secret|private|signing|encryption|decryption|auth|authentication|authorization|account|master|shared|service|admin|license|deploy|` +
			`storage|consumer|client|hmac|jwt|session|subscription|security|ingest|ingestion|integration|server|root|ssh|aes|rest|write|webhook|recovery|functions|totp|2fa)` +
			`[ _.-]?(?:api[ _-]?)?keys?`)},
	{tokens, "recovery·code recovery_code recovery-code backup·code backup_code backup-code recoverycode backupcode", lazily(`(?:recovery|backup)[ _-]?codes?`)},
	{sessions, "session_id session-id sessionid session·id session_c session·c session-c sessioncookie sessid sid", lazily(`session[ _-]?(?:id|cookie)|sessid|\bsid\b`)},
	{tokens, "sig= signature", lazily(`x-(?:amz|goog)-signature|\bsig(?:nature)?\b`)},
	{tokens, "토큰 시크릿 키 钥 鑰 令牌 トークン シークレット キー 鍵", lazily(
		`(?i)토큰|시크릿|(?:비밀|인증|액세스|접근|api|암호화|서명)\s?키|[密秘金][钥鑰]|令牌|トークン|シークレット|(?:api|アクセス|認証|秘密|暗号)\s?キー|秘密鍵`)},
	{tokens, "schlüssel geheimnis clave clé jeton chave люч окен екрет", lazily(
		`(?i)(?:api|zugriffs|zugangs|geheim)-?schlüssel|geheimnis|claves?(?: (?:de (?:la )?)?(?:api|acceso)| secreta| privada)?|clés?[ -](?:d'|de l')?(?:api|accès|secrète)|` +
			`jetons?|chaves? (?:de )?(?:api|acesso|secreta)|ключ|токен|секрет`)},
}

// publicTail matches words behind the name of a secret that make it the name of something else.
var publicTail = lazily(`(?i)^(?:[_-][a-z]+)*[_-](?:len|length|size|count|counter|hash|hashed|digest|field|fields|name|names|type|types|id|ids|url|uri|urls|path|paths|file|files|dir|policy|policies|rule|rules|regex|pattern|` +
	`min|max|ttl|expiry|expires|expiration|exp|age|limit|limits|used|usage|budget|index|label|title|hint|reset|strength|format|version|algorithm|alg|prefix|suffix|header|param|params|column|input|form|error|errors|manager|` +
	`storage|provider|source|required|enabled|disabled|valid|validator|check|rotation|rotated|at|in|on|date|time|timeout|bucket|ref|arn|scope|scopes|per|rate|cost|price|window|list|set|map|class|factory|handler|` +
	`endpoint|issuer|audience|kind|mode|state|status|info|meta|metadata|test|tests|refresh|based|protected|only|auth|sign|up|change|changed|complexity|grant|exchange|introspection|event|events|uuid|guid|fingerprint|checksum|sha\\d*|md5)(?:[_-]\\d+)*$`)

// nameTail matches the rest of a longer name.
var nameTail = lazily(`^(?:[_-][0-9A-Za-z]+|[A-Z][0-9a-z]+){1,6}`)

// snake writes the rest of a name with underscores: ForBilling as _For_Billing.
func snake(tail string) string { return camelHead().ReplaceAllString(tail, "${1}_$2") }

var camelHead = lazily(`(^|[0-9a-z])([A-Z])`)

// namesSecret reports whether the text contains any of the names.
func namesSecret(text string) bool {
	lower := lowerASCII(text)
	return slices.ContainsFunc(nameRules, func(r nameRule) bool { return r.expr().MatchString(lower) })
}

// suffixes may follow the word within a name, and change nothing: which one it is, and how it is written.
var suffixes = lazily(`(?i)^(?:[_-]?(?:\d{1,3}|data|base|prod|production|dev|development|staging|stage|test|testing|live|local|value|val|raw|str|string|text|b64|base64|hex|old|new|current|primary|secondary|main|env|root|admin|user|ro|rw))*`)

// publicBefore are words before a name that make it no secret.
var publicBefore = wordSet(`page next prev previous continuation cancellation cancel start stop end eos bos sep cls pad mask unk special max min num first last total
	input output prompt completion sync resume cursor public lex parse current peek no without hashed encrypted forgot forgotten reset change
	confirm missing invalid wrong expired incorrect verify check hash validate design`)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// wordBefore returns the word before a place, in small letters: that of nextPageToken before Token is page.
func wordBefore(text string, at int) string {
	if at > 0 && strings.IndexByte(" _.-", text[at-1]) >= 0 {
		at--
	}
	start := at
	for start > 0 && at-start < 16 && isLetter(text[start-1]) {
		start--
		if text[start] <= 'Z' && at-start > 1 && text[start+1] >= 'a' {
			break
		}
	}
	return lowerASCII(text[start:at])
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// envKey matches a name of the environment for a key of something.
var envKey = lazily(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|PASS|PWD|PW|AUTH|CREDS|DSN_KEY)\b`)

var publicKey = lazily(`(?:CACHE|PRIMARY|FOREIGN|PUBLIC|SORT|PARTITION|IDEMPOTENCY|OBJECT|LOOKUP|HASH|ROW|INDEX|DEDUPE|ROUTING|STORE|MAP|CONFIG|PUB)_KEY$`)

// label matches words of a form or a message about a secret, in place of a value.
var label = lazily(`(?i)(?:^|[^\pL])(?:the|is|are|was|must|should|can(?:not)?|your|my|our|please|not|at|least|be|to|for|of|or|and|with|required|optional|invalid|incorrect|wrong|missing|forgot|forgotten|enter|confirm|reset|change|new|characters?|field|description|requerida|obligatoria|olvidada|vergessen|oublié|erforderlich|requis)(?:$|[^\pL])`)

// typeWord matches words in place of a value: a type, an option, a word for the thing itself.
var typeWord = lazily(`^(?:null|none|nil|undefined|true|false|yes|no|on|off|ok|fail|failed|skip|skipped|passed|str|string|text|int|integer|number|bool|boolean|bytes?|any|object|array|list|dict|map|required|optional|password|passwd|passwort|secret|token|hidden|empty|unset|default|input|redacted|masked|removed|value|key|bearer|basic|env|vault|keychain|prompt|ask|stdin|plain|plaintext|valid|unknown|same|weak|strong|unchanged|md5|bcrypt|scram|trust|peer|n/?a|tbd|todo)$`)

// placeholderStart matches the begin of a text in place of a value.
var placeholderStart = lazily(`^(?:your(?:pass|pw|secret|token|key|api|own|user|name)|(?:[\w-]*[_. -])?example[\w.-]*$|replace|(?:insert|enter|put)[-_ ][a-z_ -]*$|<|\{\{|\$\{|\$\(|\$[a-z_][a-z0-9_]*$|%[a-z_]+%$|%[sdvq]$|\{[a-z_.]*\}?$|\[|@[a-z_]+@?$|#\{|process\.env|os\.|env[.\[(]|secrets\.|vars\.)`)

// placeholderParts are parts of such a text, and placeholderEnds its ends.
var (
	placeholderParts = []string{"your-", "your_", "your ", "placeholder", "redacted", "changeme", "change-me", "change_me", "...", "…", "xxxx", "****"}
	placeholderEnds  = []string{"-here", "_here", " here", "example"}
)

func isPlaceholder(value string) bool {
	value = lowerASCII(strings.Trim(value, "\"'`"))
	return strings.Trim(value, value[:min(1, len(value))]) == "" || placeholderStart().MatchString(value) || typeWord().MatchString(value) ||
		slices.ContainsFunc(placeholderParts, func(part string) bool { return strings.Contains(value, part) }) ||
		slices.ContainsFunc(placeholderEnds, func(end string) bool { return strings.HasSuffix(value, end) })
}

// technical are words with digits that speak of how something is kept.
var technical = lazily(`(?i)^(?:(?:base|sha|utf|md|rsa|aes|oauth|argon|es|hs|rs|ed|ecdsa|pbkdf|blake|x|h|v|p|tls|http|ipv|scram-sha|e|k|s|ec|b|l|w|gpt|sha3|log)-?\d+(?:[a-z]{1,6}\d{0,3})?(?:[._-]\w{1,8}){0,3}|\d+(?:st|nd|rd|th|ms|s|m|h|d|x|k|kb|mb|gb|%|-\w+)|[a-z]+-(?:based|encoded|protected|hashed|encrypted|only|less|free|sensitive|bit))$`)

// isVersioned reports whether the value is such a word, a version, a date, a path, or an address.
func isVersioned(value string) bool {
	return technical().MatchString(value) || plainValue().MatchString(value)
}

var plainValue = lazily(`(?i)^(?:v?\d+(?:\.\d+)+(?:[-+][\w.-]*)?|\d{4}-\d\d(?:-\d\d)?(?:t[\d:.z+-]*)?|\d{1,2}:\d\d(?::\d\d)?|(?:~|\.{1,2})?/[\w./-]+|(?:[a-z]:\\|\.{0,2}[/\\])?[\w .\\/-]+\.(?:json|ya?ml|txt|env|pem|key|crt|p12|ini|conf)|[\w.-]+\.(?:go|py|js|ts|tsx|rs|java|rb|md|txt|json|ya?ml|toml|sql|sh|env|html|css|com|org|net|io|dev|pem|key|crt|local)(?::\d+)*|https?://\S*|[\w.+-]+@[\w-]+\.[\w.]+)$`)
