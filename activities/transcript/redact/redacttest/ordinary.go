package redacttest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// ordinary are lines without secrets that look as if they held one: words with the names of secrets in them, hashes,
// ids and digests, code that handles secrets, forms and messages about them, in several languages. {h7}, {h40} and so
// on are replaced by random hex, {uuid}, {n}, {b64} and the like by a random value of that kind.
var ordinary = []string{
	"The keyboard shortcut for {n} is in chapter {n}.",
	"The author of commit {h7} is a monkey wrench collector.",
	"The tokenizer splits {n} tokens into {n} pieces.",
	"tokens used: {n} (prompt {n}, completion {n})",
	"max_tokens={n} temperature=0.{n}",
	"commit {h40}",
	"Merge {h7}..{h7} into main",
	"index {h7}..{h7} 100644",
	"sha256:{h64}",
	"image: registry.test/app@sha256:{h64}",
	"golang.org/x/net v0.{n}.0 h1:{b44}=",
	`"integrity": "sha512-{b86}=="`,
	"request_id={uuid} status=200 took={n}ms",
	"trace_id={h32} span_id={h16} sampled=1",
	"session {uuid} has {n} messages",
	"workflow id: session/demo/ann//{uuid}",
	"https://docs.test/d/{uuid}/edit?page={n}",
	"https://video.test/watch?v={a11}&t={n}s",
	"ETag: \"{h32}\"",
	"/assets/app.{h8}.js /assets/style.{h8}.css",
	"pod/web-{h10}-x{n}zk Running",
	"ipfs://Qm{b58}",
	"/nix/store/{h32}-glibc-2.{n}",
	"01J{ulid} created",
	"password := os.Getenv(\"DB_PASSWORD\") // {n}",
	"const apiKey = process.env.API_KEY_{n};",
	"password: ${DB_PASSWORD_{n}}",
	"token = parser.next_token()  # line {n}",
	"token, err := lexer.Next() // {n}",
	"if token == tokenizer.EOF { return {n} }",
	"secret = get_secret('projects/{n}/db')",
	"self.password = password  # {n}",
	"cfg.Token = opts.Token // see issue {n}",
	"def test_login_with_wrong_password_{n}(self):",
	"func TestTokenIsRefreshedAfter{n}Seconds(t *testing.T) {",
	`"password": "<your password {n}>"`,
	`errors.password = "Password must have {n} characters"`,
	"<input name=\"password\" type=\"password\" maxlength=\"{n}\">",
	"Authorization: Bearer $TOKEN_{n}",
	"api_key: YOUR_API_KEY_{n}",
	"PASSWORD=xxxxxxxx # {n}",
	"The password must have at least {n} characters.",
	"I forgot my password again, for the {n}th time.",
	"Reset the API key every {n} days.",
	"the secret to a good soup is {n} hours of time",
	"passkeys replace passwords in {n}% of logins",
	"The primary key is id, the foreign key is user_{n}.",
	"cache key: linux-go-{h12}",
	"a token bucket holds {n} tokens",
	"She was the bearer of {n} letters.",
	"Secret Santa costs {n} dollars this year.",
	"password hashing uses bcrypt with cost {n}",
	"The token is JWT, signed by RS256, and lives {n} minutes.",
	"the password is case-sensitive and expires after {n} days",
	"비밀번호를 {n}번 잊어버렸어요.",
	"비밀번호는 {n}자 이상이어야 합니다.",
	"密码至少需要{n}个字符。",
	"我忘记了密码，请在{n}点联系我。",
	"パスワードは{n}文字以上にしてください。",
	"Das Passwort muss mindestens {n} Zeichen haben.",
	"La contraseña debe tener {n} caracteres.",
	"Le mot de passe doit contenir {n} caractères.",
	"SELECT token, count(*) FROM sessions WHERE id = {n};",
	"next_page_token: CAE{n}",
	"cookie consent was given by {n} visitors",
	"The signature of function f{n} changed.",
	"com.example.internal.AbstractTokenServiceFactoryBean{n}",
	"at org.springframework.security.PasswordEncoderFactories.create({n})",
	"color: #{h6}; margin: {n}px",
	"2026-03-01T10:00:{n}Z INFO started in {n} ms",
	"192.168.{n}.7 - - GET /login HTTP/1.1 200",
	"ACGTTGCAACGTAGCTAGCTAGGATCGATCG{n}",
	"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 {n}",
	"data:text/plain;base64,{text}",
	"MD5 (file{n}) = {h32}",
	"xkcd says four random words are enough for a password ({n})",
	"git checkout -b fix/token-refresh-{n}",
	"user: ann, role: admin, password: required, id: {n}",
	"password_hash VARCHAR({n}) NOT NULL,",
	"The key idea, in short: {n} of {n} agree.",
}

// Ordinary returns at least n lines that hold no secret. All of them differ.
func Ordinary(seed uint64, n int) []string {
	m := NewMaker(seed)
	seen := make(map[string]bool, n)
	var lines []string
	for i := 0; len(lines) < n; i++ {
		line := m.fill(ordinary[i%len(ordinary)])
		if !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return lines
}

func (m *Maker) fill(template string) string {
	for _, f := range []struct {
		mark string
		make func() string
	}{
		{"{h6}", func() string { return m.of(6, hexes) }}, {"{h7}", func() string { return m.of(7, hexes) }},
		{"{h8}", func() string { return m.of(8, hexes) }}, {"{h10}", func() string { return m.of(10, hexes) }},
		{"{h12}", func() string { return m.of(12, hexes) }}, {"{h16}", func() string { return m.of(16, hexes) }},
		{"{h32}", func() string { return m.of(32, hexes) }}, {"{h40}", func() string { return m.of(40, hexes) }},
		{"{h64}", func() string { return m.of(64, hexes) }}, {"{uuid}", m.uuid}, {"{a11}", func() string { return m.of(11, word) }},
		{"{b44}", func() string { return m.of(43, b64) }}, {"{b86}", func() string { return m.of(86, b64) }},
		{"{b58}", func() string { return m.of(44, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz") }},
		{"{ulid}", func() string { return m.of(23, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") }},
		{"{text}", func() string {
			return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "Some ordinary text, number %d of it.", m.random.IntN(1e6)))
		}},
		{"{n}", func() string { return fmt.Sprint(2 + m.random.IntN(98)) }},
	} {
		for strings.Contains(template, f.mark) {
			template = strings.Replace(template, f.mark, f.make(), 1)
		}
	}
	return template
}
