package redact

import (
	"strings"
)

// family says what kind of a secret a name is for.
type family int

const (
	// passwords are chosen by people: almost any value is one.
	passwords family = iota + 1
	// tokens are made by programs.
	tokens
)

// secretName matches the words that call something secret: first those for passwords, then those for what programs issue.
var secretName = lazily(`(?i)(` +
	`pass[_ -]?(?:words?|phrases?|codes?|wd)|passwd|passwort|kennwort|\bpwd|_pwd|userpwd|wachtwoord|lösenord|adgangskode|` +
	`contraseñas?|contrasenya|contrasena|mot[ _-]?de[ _-]?passe|motdepasse|senhas?|palavra-passe|parola d'ordine|hasło|парол[ья]|şifre|mật khẩu|` +
	`비밀\s?번호|비번|암호|패스워드|密\s?[码碼]|口令|パスワード|パスコード|暗証番号|\bpin(?:[ _-]?code)?\b|[_.-]pass\b|\bpass(?:=|\s?:\s)|\bpw(?:=|\s?:\s)` +
	`)|(` +
	`secret[ _-]?(?:access[ _-]?)?keys?|secrets?|tokens?|credentials?|otp|bearer|mnemonic|` +
	`(?:api|app|application|access|secret|private|signing|encryption|decryption|auth|authentication|authorization|account|master|shared|service|admin|license|deploy|` +
	`storage|consumer|client|hmac|jwt|session|subscription|security|ingest|ingestion|integration|server|root|ssh|aes|rest|write|webhook|recovery|totp|2fa)` +
	`[ _.-]?(?:api[ _-]?)?keys?|` +
	`recovery[ _-]?codes?|backup[ _-]?codes?|otp[ _-]?seed|totp[ _-]?seed|session[ _-]?(?:id|cookie)|sessid|\bsid\b|x-amz-signature|x-goog-signature|\bsig(?:nature)?\b|` +
	`토큰|시크릿|(?:비밀|인증|액세스|접근|api|API|암호화|서명)\s?키|[密秘][钥鑰]|令牌|金[钥鑰]|トークン|シークレット|(?:api|API|アクセス|認証|秘密|暗号)\s?キー|秘密鍵|` +
	`(?:api|zugriffs|zugangs|geheim)-?schlüssel|geheimnis|clave(?:s)?(?: (?:de (?:la )?)?(?:api|acceso)| secreta| privada)?|clés?[ -](?:d'|de l')?(?:api|accès|secrète)|jetons?|chave(?:s)? (?:de )?(?:api|acesso|secreta)|ключ|токен|секрет` +
	`)`)

// nameSeeds are parts of all of these names, in small letters.
const nameSeeds = `pass kennwort pwd wachtwoord lösenord adgangskode contrase mot_de mot-de mot_de motde senha palavra parola hasło арол şifre mật
	비밀 비번 암호 패스워드 密码 密碼 密_码 密_碼 口令 パス 暗証 pin pw secret token credential otp bearer mnemonic key recovery backup seed session
	sessid sid x-amz x-goog sig 토큰 시크릿 키 钥 鑰 令牌 トークン シークレット キー 鍵 schlüssel geheimnis clave clé jeton chave люч окен екрет`

// suffixes may follow the word within a name, and change nothing: which one it is, and how it is written.
var suffixes = lazily(`(?i)^(?:[_-]?(?:\d{1,3}|prod|production|dev|development|staging|stage|test|testing|live|local|value|val|raw|str|string|text|b64|base64|hex|old|new|current|primary|secondary|main|env|root|admin|user|ro|rw))*`)

// publicBefore are words before a name that make it no secret.
var publicBefore = lazily(`(?i)(?:page|next|prev|previous|continuation|cancellation|cancel|start|stop|end|eos|bos|sep|cls|pad|mask|unk|special|max|min|num|first|last|total|input|output|prompt|completion|sync|resume|cursor|public|lex|parse|current|peek|csrf_?field|no|without|hashed|encrypted|forgot(?:ten)?|reset|change|confirm|missing|invalid|wrong|expired|incorrect|verify|check|hash|validate|design)[ _.-]?$`)

// envKey matches a name of the environment for a key of something.
var envKey = lazily(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|PASS|PWD|PW|AUTH|CREDS|DSN_KEY)\b`)

var publicKey = lazily(`(?:CACHE|PRIMARY|FOREIGN|PUBLIC|SORT|PARTITION|IDEMPOTENCY|OBJECT|LOOKUP|HASH|ROW|INDEX|DEDUPE|ROUTING|STORE|MAP|CONFIG|PUB)_KEY$`)

// label matches what a form or a message says of a secret, in place of one.
var label = lazily(`(?i)(?:^|[^\pL])(?:the|is|are|was|must|should|can(?:not)?|your|my|our|please|not|at|least|be|to|for|of|or|and|with|required|optional|invalid|incorrect|wrong|missing|forgot|forgotten|enter|confirm|reset|change|new|characters?|field|description|requerida|obligatoria|olvidada|vergessen|oublié|erforderlich|requis)(?:$|[^\pL])`)

// typeWord matches what stands for a value where there is none: a type, an option, a word for the thing itself.
var typeWord = lazily(`(?i)^(?:null|none|nil|undefined|true|false|yes|no|on|off|str|string|text|int|integer|number|bool|boolean|bytes?|any|object|array|list|dict|map|required|optional|password|passwd|passwort|secret|token|hidden|empty|unset|default|input|redacted|masked|removed|value|key|bearer|basic|env|vault|keychain|prompt|ask|stdin|plain|plaintext|md5|bcrypt|scram|trust|peer|n/?a|tbd|todo)$`)

// placeholders are written where a value is to be put.
var placeholderWord = lazily(`(?i)your[-_ ]?|[-_ ]here$|example|placeholder|redacted|change[-_]?me|^insert[-_ ]|^replace|^enter[-_ ]|^put[-_ ]|^<|^\{\{|^\$\{|^\$\(|^\$[a-z_][a-z0-9_]*$|^%[a-z_]+%$|^%[sdvq]$|^\{[a-z_.]*\}?$|^\[|^@[a-z_]+@?$|\.\.\.|…|^#\{|^process\.env|^os\.|^env[.\[(]|^secrets\.|^vars\.`)

func isPlaceholder(value string) bool {
	trimmed := strings.Trim(value, "\"'`")
	if trimmed == "" || placeholderWord().MatchString(trimmed) || typeWord().MatchString(trimmed) {
		return true
	}
	for i := range len(trimmed) {
		if trimmed[i] != trimmed[0] {
			return strings.Contains(strings.ToLower(trimmed), "xxxx") || strings.Contains(trimmed, "****")
		}
	}
	return true
}

// technical are words with digits that speak of how something is kept.
var technical = lazily(`(?i)^(?:(?:base|sha|utf|md|rsa|aes|oauth|argon|es|hs|rs|ed|ecdsa|pbkdf|blake|x|h|v|p|tls|http|ipv|scram-sha|e|k|s|ec|b|l|w|gpt|sha3|log)-?\d+[\w.-]{0,12}|\d+(?:st|nd|rd|th|ms|s|m|h|d|x|k|kb|mb|gb|%|-\w+)|[a-z]+-(?:based|encoded|protected|hashed|encrypted|only|less|free|sensitive|bit))$`)

// isVersioned reports whether the value is such a word, a version, a date, a path, or an address.
func isVersioned(value string) bool {
	return technical().MatchString(value) || plainValue().MatchString(value)
}

var plainValue = lazily(`(?i)^(?:v?\d+(?:\.\d+)+(?:[-+][\w.-]*)?|\d{4}-\d\d(?:-\d\d)?(?:t[\d:.z+-]*)?|\d{1,2}:\d\d(?::\d\d)?|(?:~|\.{1,2})?/[\w./-]+|[\w.-]+\.(?:go|py|js|ts|tsx|rs|java|rb|md|txt|json|ya?ml|toml|sql|sh|env|html|css|com|org|net|io|dev|pem|key|crt|local)(?::\d+)*|https?://\S*|[\w.+-]+@[\w-]+\.[\w.]+)$`)
