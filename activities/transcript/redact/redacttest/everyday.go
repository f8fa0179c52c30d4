package redacttest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// everyday are secrets as files, commands, prompts and people tell them who do not call them by a name. Kinds are the numbers
// under which a review of the rules lists them. Of %[1]s and so on the secrets are made, in this order.
var everyday = []struct {
	kind string
	text string
	make []func(*Maker) string
}{
	{"3 quoted pass", `{"user":"ann","pass":"%s"}`, []func(*Maker) string{weak}},
	{"3 php", `'pass' => '%s',`, []func(*Maker) string{weak}},
	{"3 toml", "[remote]\npass = \"%s\"", []func(*Maker) string{weak}},
	{"3 pw", `{"pw": "%s"}`, []func(*Maker) string{weak}},
	{"3 pin", `{"pin": "%s"}`, []func(*Maker) string{pin}},
	{"4 go dsn", `sql.Open("mysql", "root:%s@tcp(127.0.0.1:3306)/db")`, []func(*Maker) string{weak}},
	{"4 go dsn with marks", "dsn: app:%s@%s@unix(/run/mysqld.sock)/db", []func(*Maker) string{weak, weak}},
	{"5 oracle", "$ sqlplus scott/%s@//db.internal/svc", []func(*Maker) string{weak}},
	{"5 oracle address", "connect as scott/%s@//db.internal:1521/svc", []func(*Maker) string{weak}},
	{"5 oracle jdbc", "url=jdbc:oracle:thin:scott/%s@db.internal:1521:orcl", []func(*Maker) string{weak}},
	{"5 oracle alias", "$ sqlplus -S app/%s@prod", []func(*Maker) string{weak}},
	{"6 pgpass", "db.internal:5432:app:ann:%s", []func(*Maker) string{(*Maker).password}},
	{"6 pgpass of all", "*:*:*:postgres:%s", []func(*Maker) string{weak}},
	{"7 rails", "secret_key_base: %s", []func(*Maker) string{prefixed("", 128, hexes)}},
	{"7 rails env", "SECRET_KEY_BASE=%s", []func(*Maker) string{prefixed("", 128, hexes)}},
	{"8 tail", "DB_PASSWORD_READER=%s", []func(*Maker) string{(*Maker).password}},
	{"8 tail of a key", "OPENAI_API_KEY_TEAM_A=%s", []func(*Maker) string{mixed(20)}},
	{"8 tail of a token", "GITHUB_TOKEN_READONLY: %s", []func(*Maker) string{mixed(24)}},
	{"9 list", "Your recovery codes:\n  1. %s\n  2. %s\n  3. %s\n\nKeep them.", []func(*Maker) string{backup, backup, backup}},
	{"9 lines", "backup codes\n%s\n%s\n", []func(*Maker) string{backup, backup}},
	{"9 array", `{"recovery_codes": ["%s", "%s"]}`, []func(*Maker) string{backup, backup}},
	{"10 seed phrase", "seed phrase: %s", []func(*Maker) string{phrase(12)}},
	{"10 mnemonic", "The mnemonic is %s.", []func(*Maker) string{phrase(24)}},
	{"11 pass phrase", "password: %s", []func(*Maker) string{phrase(4)}},
	{"11 pass phrase in prose", "my password is %s", []func(*Maker) string{phrase(5)}},
	{"12 groups", "2FA key: %s", []func(*Maker) string{func(m *Maker) string {
		return strings.Join([]string{m.of(4, base32), m.of(4, base32), m.of(4, base32), m.of(4, base32)}, " ")
	}}},
	{"12 no digit", "TOTP seed: %s", []func(*Maker) string{prefixed("", 16, upper)}},
	{"13 docker", "docker login -u ann -p %s r.test", []func(*Maker) string{weak}},
	{"13 redis", "redis-cli -h db -a %s ping", []func(*Maker) string{weak}},
	{"13 ldap", "ldapsearch -x -D cn=admin -w '%s' -b dc=test", []func(*Maker) string{weak}},
	{"13 mongo", "mongosh -u ann -p %s mongodb://db", []func(*Maker) string{weak}},
	{"13 sqlcmd", "sqlcmd -S db -U sa -P %s -Q 'select 1'", []func(*Maker) string{weak}},
	{"13 samba", "smbclient //nas/share -U ann%%%s", []func(*Maker) string{weak}},
	{"13 htpasswd", "htpasswd -b .htpasswd ann %s", []func(*Maker) string{weak}},
	{"14 token for a user", "git clone https://%s@dev.azure.test/org/repo", []func(*Maker) string{mixed(52)}},
	{"15 netrc", "machine r.test login ann password %s", []func(*Maker) string{weak}},
	{"16 the pass", "the pass is %s", []func(*Maker) string{mixed(9)}},
	{"16 pw", "pw is %s", []func(*Maker) string{(*Maker).password}},
	{"16 creds", "creds: admin / %s", []func(*Maker) string{weak}},
	{"16 login", "login admin/%s", []func(*Maker) string{mixed(9)}},
	{"17 wifi", `psk="%s"`, []func(*Maker) string{weak}},
	{"17 door", "The door code is %s.", []func(*Maker) string{pin}},
	{"17 gate", "gate code: %s", []func(*Maker) string{pin}},
	{"17 card", "CVV: %s", []func(*Maker) string{prefixed("", 3, digits)}},
	{"18 open bracket", `password = "%s(%s"`, []func(*Maker) string{weak, weak}},
	{"18 like a placeholder", `password: Example!%s`, []func(*Maker) string{pin}},
	{"19 block", "password: |\n  %s\n  %s\nport: 80", []func(*Maker) string{(*Maker).password, (*Maker).password}},
	{"21 make", "https://hook.eu1.make.com/%s", []func(*Maker) string{mixed(32)}},
	{"21 n8n", "POST https://n8n.test/webhook/%s/start", []func(*Maker) string{mixed(16)}},
	{"22 cookie apart", `{"name":"session","value":"%s","domain":"x.test"}`, []func(*Maker) string{mixed(24)}},
	{"30 prompt", "Enter passphrase for key '/home/ann/.ssh/id': %s", []func(*Maker) string{(*Maker).password}},
	{"30 prompt for words", "Enter passphrase for key '/home/ann/.ssh/id': %s x", []func(*Maker) string{weak}},
}

// weak is a password without a digit or a capital.
func weak(m *Maker) string { return m.of(9, "abcdefghijklmnopqrstuvwxyz") }

func pin(m *Maker) string { return m.of(4, digits) }

// mixed returns a maker of small letters and digits by turns.
func mixed(n int) func(*Maker) string {
	return func(m *Maker) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(m.of(1+m.random.IntN(2), lower))
			b.WriteString(m.of(1+m.random.IntN(2), digits))
		}
		return b.String()[:n]
	}
}

// backup is a code for when a device is lost.
func backup(m *Maker) string { return mixed(4)(m) + "-" + mixed(4)(m) }

func phrase(words int) func(*Maker) string {
	return func(m *Maker) string {
		all := make([]string, words)
		for i := range all {
			all[i] = m.of(4+m.random.IntN(4), lower)
		}
		return strings.Join(all, " ")
	}
}

// everydayCases are those of everyday, and secrets that are long, encoded or cut off.
func everydayCases(m *Maker) []Case {
	var all []Case
	add := func(kind, text string, secrets ...string) {
		all = append(all, Case{Kind: kind, Wording: "everyday", Text: text, Secrets: secrets})
	}
	for _, e := range everyday {
		values, secrets := []any{}, []string{}
		for _, each := range e.make {
			secret := each(m)
			values, secrets = append(values, secret), append(secrets, secret)
		}
		add(e.kind, fmt.Sprintf(e.text, values...), secrets...)
	}
	key := base64.StdEncoding.EncodeToString([]byte(m.pem("RSA PRIVATE KEY", 24)))
	add("1 kubeconfig", "users:\n- user:\n    client-key-data: "+key+"\n", key[40:80], key[len(key)-40:])
	assigned := base64.StdEncoding.EncodeToString([]byte("password=" + m.password()))
	add("2 encoded", "echo "+assigned+" | base64 -d", assigned)
	config := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"auths":{"r.test":{"auth":%q}}}`, base64.StdEncoding.EncodeToString([]byte("deploy:"+m.password()))))
	add("2 docker", ".dockerconfigjson: "+config, config)
	long := m.Of(9000)
	add("20 long", "CREDENTIALS_B64="+long+"\nNEXT=1", long[5000:5100], long[8900:])
	lines := strings.Split(m.pem("RSA PRIVATE KEY", 6), "\n")
	add("23 end of a key", "$ tail -4 id_rsa\n"+strings.Join(lines[4:], "\n"), lines[4:len(lines)-1]...)
	token := "ghp_" + "false" + m.Of(31)
	add("29 false in a token", "take "+token+" now", token)
	return all
}
