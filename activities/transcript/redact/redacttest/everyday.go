package redacttest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// everyday are secrets in files, commands, prompts and people's words that do not call them by a name. Kinds are the
// numbers under which a review of the rules lists them. The functions of make produce the secrets for the verbs, in
// order.
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
	{"3 perl", `:pass => "%s"`, []func(*Maker) string{weak}},
	{"3 xml", "<pass>%s</pass>", []func(*Maker) string{weak}},
	{"3 camel case", `smtpPass: "%s"`, []func(*Maker) string{weak}},
	{"3 yaml", "smtp:\n  pw: %s\n", []func(*Maker) string{weak}},
	{"3 rclone", "[remote]\ntype = sftp\npass = %s", []func(*Maker) string{mixed(16)}},
	{"3 connection string", "server=db;uid=sa;pwd=%s;database=x", []func(*Maker) string{weak}},
	{"4 go dsn without a protocol", "dsn: u:%s@(db:3306)/x, or u:%s@/x", []func(*Maker) string{weak, weak}},
	{"5 oracle connect", "SQL> connect scott/%s@orcl", []func(*Maker) string{weak}},
	{"5 oracle call", "cx_Oracle.connect('hr/%s@localhost/xe')", []func(*Maker) string{weak}},
	{"5 oracle import", "imp scott/%s@orcl file=x.dmp", []func(*Maker) string{weak}},
	{"5 oracle port", "ORACLE_CONN=app/%s@db:1521/x", []func(*Maker) string{weak}},
	{"6 pgpass of another port", "db.internal:5439:dev:ann:%s", []func(*Maker) string{(*Maker).password}},
	{"6 pgpass named", "cat ~/.pgpass\nprod:6000:*:ann:%s\n[::1]:5433:app:ann:%s", []func(*Maker) string{weak, weak}},
	{"6 pgpass socket", "/var/run/postgresql:5432:app:ann:%s", []func(*Maker) string{weak}},
	{"7 rails prose", "the secret key base is %s", []func(*Maker) string{prefixed("", 128, hexes)}},
	{"7 rails pepper", "config.pepper = '%s'", []func(*Maker) string{prefixed("", 128, hexes)}},
	{"8 camel tail", "apiKeyForBilling: '%s', passwordReader: '%s'", []func(*Maker) string{mixed(20), (*Maker).password}},
	{"8 end of a word", "BACKEND_TOKEN=%s FRIEND_SECRET=%s", []func(*Maker) string{mixed(20), mixed(20)}},
	{"9 inline", "Recovery codes: %s, %s %s", []func(*Maker) string{backup, backup, backup}},
	{"9 columns", "Backup codes (keep them)\n%s   %s\n%s   %s", []func(*Maker) string{backup, backup, backup, backup}},
	{"9 boxes", "recovery codes:\n[ ] %s\n[ ] %s", []func(*Maker) string{backup, backup}},
	{"9 spanish", "códigos de recuperación:\n%s\n%s", []func(*Maker) string{backup, backup}},
	{"9 chinese", "恢复代码:\n%s\n%s", []func(*Maker) string{backup, backup}},
	{"10 next line", "Seed phrase (keep offline):\n\n  %s\n", []func(*Maker) string{phrase(12)}},
	{"10 quoted", `SEED_PHRASE="%s"`, []func(*Maker) string{phrase(24)}},
	{"10 numbered", "mnemonic:\n1. %s\n2. %s", []func(*Maker) string{numbered(3, 11), phrase(1)}},
	{"10 recovery phrase", "Here's the recovery phrase of my wallet: %s", []func(*Maker) string{phrase(12)}},
	{"10 chinese", "助记词：%s", []func(*Maker) string{phrase(12)}},
	{"11 next line", "Passphrase:\n%s\n", []func(*Maker) string{phrase(4)}},
	{"11 next line in prose", "my passphrase is\n%s", []func(*Maker) string{phrase(4)}},
	{"11 remark", "password: %s (do not share)", []func(*Maker) string{phrase(4)}},
	{"11 three words", "SSH key passphrase: %s", []func(*Maker) string{phrase(3)}},
	{"11 number", "passphrase: %s 7", []func(*Maker) string{phrase(4)}},
	{"11 korean", "비밀번호: %s", []func(*Maker) string{phrase(4)}},
	{"11 spanish", "la contraseña es %s.", []func(*Maker) string{phrase(5)}},
	{"12 next line", "Your 2FA setup key is\n%s", []func(*Maker) string{prefixed("", 32, upper)}},
	{"12 env", "OTP_SECRET=%s", []func(*Maker) string{prefixed("", 16, upper)}},
	{"12 oathtool", "oathtool --totp -b %s", []func(*Maker) string{prefixed("", 16, upper)}},
	{"13 long option", "wget --user ann --password %s http://x.test", []func(*Maker) string{weak}},
	{"13 long option assigned", "docker login -u ann --password=%s r.test", []func(*Maker) string{weak}},
	{"13 mysql quoted", "mysqldump -uroot -p'%s' app", []func(*Maker) string{weak}},
	{"13 openssl", "openssl rsa -passin pass:%s -in id", []func(*Maker) string{weak}},
	{"13 windows", "schtasks /create /ru ann /rp %s; xfreerdp /u:ann /p:%s /v:h", []func(*Maker) string{weak, weak}},
	{"13 networks", "wpa_passphrase home %s; nmcli d wifi connect home password %s; lftp -u ann,%s ftp.test; rabbitmqctl add_user ann %s", []func(*Maker) string{weak, weak, weak, weak}},
	{"13 mosquitto", "mosquitto_pub -u ann -P %s -t x", []func(*Maker) string{weak}}, //nolint:misspell // a program
	{"13 keytool", "keytool -list -storepass %s", []func(*Maker) string{weak}},
	{"13 sudo", "echo '%s' | sudo -S ls", []func(*Maker) string{weak}},
	{"13 chpasswd", "echo ann:%s | chpasswd", []func(*Maker) string{weak}},
	{"13 environment", "MYSQL_PWD=%s mysql app; docker run -e POSTGRES_PASSWORD=%s postgres", []func(*Maker) string{weak, weak}},
	{"13 mount", "mount -o username=ann,password=%s //nas/x /mnt", []func(*Maker) string{weak}},
	{"14 token before a colon", "https://%s:@api.test/v1", []func(*Maker) string{mixed(24)}},
	{"15 netrc order", "machine r.test password %s login ann", []func(*Maker) string{weak}},
	{"15 netrc account", "machine r.test login ann account x password %s", []func(*Maker) string{weak}},
	{"16 pass", "user: ann pass: %s", []func(*Maker) string{weak}},
	{"16 lines", "username: ann\npassword: %s\n", []func(*Maker) string{weak}},
	{"16 creds with a colon", "creds ann:%s", []func(*Maker) string{(*Maker).password}},
	{"16 apostrophe", "the password's %s", []func(*Maker) string{(*Maker).password}},
	{"16 should", "the password should be %s", []func(*Maker) string{(*Maker).password}},
	{"17 card without a colon", "exp 12/27 CVV %s", []func(*Maker) string{prefixed("", 3, digits)}},
	{"17 qr", "WIFI:T:WPA;S:home;P:%s;;", []func(*Maker) string{weak}},
	{"17 qr reversed", `WIFI:P:%s;T:WPA;H:true;S:my net;;`, []func(*Maker) string{phrase(3)}},
	{"17 code of the door", "the code for the door is %s, the alarm code %s", []func(*Maker) string{pin, pin}},
	{"17 puk", "SIM PIN: %s PUK: %s", []func(*Maker) string{pin, prefixed("", 8, digits)}},
	{"17 wpa", "key-mgmt=wpa-psk\npsk=%s", []func(*Maker) string{weak}},
	{"18 like an order", "password: Enter-%s", []func(*Maker) string{(*Maker).password}},
	{"18 a word", "password: %s", []func(*Maker) string{weak}},
	{"19 words", "password: |\n  %s\n\n  %s\nport: 80", []func(*Maker) string{weak, weak}},
	{"19 folded", "  password: >2 # of the staging server\n    %s\n    %s\n  port: 80", []func(*Maker) string{weak, weak}},
	{"19 three quotes", "password = \"\"\"%s\n%s\"\"\"", []func(*Maker) string{weak, weak}},
	{"21 id", "https://n8n.test/webhook/%s", []func(*Maker) string{(*Maker).uuid}},
	{"21 zapier", "https://hooks.zapier.com/hooks/catch/1234567/%s/", []func(*Maker) string{mixed(7)}},
	{"21 telegram", "https://api.telegram.org/bot%s/sendMessage", []func(*Maker) string{func(m *Maker) string { return m.of(10, "123456789") + ":A" + m.of(34, word) }}},
	{"22 cookie of yaml", "name: session\nvalue: %s", []func(*Maker) string{mixed(24)}},
	{"22 cookie of a jar", ".x.test\tTRUE\t/\tFALSE\t1790000000\tsessionid\t%s", []func(*Maker) string{mixed(24)}},
	{"22 cookie of a table", "| session | %s | .x.test |", []func(*Maker) string{mixed(24)}},
	{"22 cookie of php", "PHPSESSID=%s", []func(*Maker) string{mixed(24)}},
	{"22 pair", `{"name":"DB_PASSWORD","value":"%s"}, {"Name":"/prod/api_key","Type":"SecureString","Value":"%s"}`, []func(*Maker) string{weak, mixed(24)}},
	{"22 pair of yaml", "- name: DB_PASSWORD\n  value: %s", []func(*Maker) string{weak}},
	{"22 pair of xml", `<add key="Password" value="%s"/>`, []func(*Maker) string{weak}},
	{"25 letters", "x-functions-key: %s", []func(*Maker) string{prefixed("", 52, lower+upper)}},
	{"30 prompt of sudo", "[sudo] password for ann: %s", []func(*Maker) string{weak}},
	{"30 prompt of git", "Password for 'https://ann@git.test': %s", []func(*Maker) string{weak}},
	{"30 prompt of ssh", "ann@host's password: %s", []func(*Maker) string{weak}},
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

// numbered returns a maker of the words of a phrase, each but the first behind its number.
func numbered(from, to int) func(*Maker) string {
	return func(m *Maker) string {
		text := phrase(1)(m)
		for n := from; n <= to+1; n++ {
			text += fmt.Sprintf("\n%d. %s", n, phrase(1)(m))
		}
		return text
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
	plain := "PORT=3000\nLOG=debug\nDB_PASSWORD=" + m.password() + "\nREGION=eu-central-1\nNODE_ENV=production\nTRACE=off\n"
	wrapped := base64.StdEncoding.EncodeToString([]byte(plain))
	first, second, third := wrapped[:64], wrapped[64:128], wrapped[128:]
	add("2 wrapped", "$ base64 -w 64 .env\n"+first+"\n"+second+"\n"+third+"\nDone", first, second, third)
	add("2 wrapped and quoted", "> "+first+"\n> "+second+"\n> "+third, first, second, third)
	wide := make([]byte, 0, 200)
	for _, c := range []byte("net user ann /add; $password = '" + m.password() + "'") {
		wide = append(wide, c, 0)
	}
	command := base64.StdEncoding.EncodeToString(wide)
	add("2 powershell", "powershell -NoProfile -EncodedCommand "+command, command)
	long := m.Of(9000)
	add("20 long", "CREDENTIALS_B64="+long+"\nNEXT=1", long[5000:5100], long[8900:])
	lines := strings.Split(m.pem("RSA PRIVATE KEY", 6), "\n")
	add("23 end of a key", "$ tail -4 id_rsa\n"+strings.Join(lines[4:], "\n"), lines[4:len(lines)-1]...)
	der := "MII" + "EowIBAAKCAQEA" + m.of(1600, b64)
	add("23 one line", "id: "+der, der[400:440], der[1500:1540])
	token := "ghp_" + "false" + m.Of(31)
	add("29 false in a token", "take "+token+" now", token)
	return all
}
