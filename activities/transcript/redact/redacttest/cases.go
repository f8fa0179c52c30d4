package redacttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Case is a text with secrets in it.
type Case struct {
	Kind, Wording, Text string
	// Secrets must not be in the stored text. Each part of a secret on several lines is one.
	Secrets []string
}

// wording embeds a secret in a text. A bare one has no name next to it.
type wording struct {
	name  string
	bare  bool
	plain bool // only for secrets that need no escape
	tell  func(key, secret string) (text string, secrets []string)
}

func said(format string) func(key, secret string) (string, []string) {
	return func(_, secret string) (string, []string) { return fmt.Sprintf(format, secret), []string{secret} }
}

func assigned(format string) func(key, secret string) (string, []string) {
	return func(key, secret string) (string, []string) { return fmt.Sprintf(format, key, secret), []string{secret} }
}

func quoted(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// camel writes a name of the environment as a program does: DB_PASSWORD as dbPassword.
func camel(key string) string {
	parts := strings.Split(strings.ToLower(key), "_")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return strings.Join(parts, "")
}

func escaped(key, secret string, times int) (string, []string) {
	text := quoted(map[string]string{strings.ToLower(key): secret})
	for range times {
		text = quoted(map[string]string{"output": text})
	}
	return text, []string{secret}
}

// split writes a secret in two parts.
func split(format string) func(key, secret string) (string, []string) {
	return func(key, secret string) (string, []string) {
		at := len(secret) / 2
		return fmt.Sprintf(format, key, secret[:at], secret[at:]), []string{secret[:at], secret[at:]}
	}
}

var wordings = []wording{
	{"bare", true, false, said("Here it is: %s - keep it safe")},
	{"bare code", true, false, said("Try `%s` and tell me")},
	{"bare fence", true, false, said("```\n%s\n```")},
	{"env", false, false, assigned("# .env\nNODE_ENV=production\n%s=%s\nPORT=3000")},
	{"env crlf", false, false, assigned("%s=%s\r\nPORT=3000\r\n")},
	{"export", false, false, assigned("$ export %s=\"%s\"\n$ make deploy")},
	{"docker", false, true, assigned("docker run -e %s=%s --rm app")},
	{"yaml", false, true, func(key, s string) (string, []string) {
		return fmt.Sprintf("env:\n  %s: %s\n  PORT: 80", key, s), []string{s}
	}},
	{"yaml quoted", false, false, func(key, s string) (string, []string) {
		return fmt.Sprintf("config:\n  %s: \"%s\"\n", strings.ToLower(key), s), []string{s}
	}},
	{"yaml folded", false, true, func(key, s string) (string, []string) {
		return fmt.Sprintf("%s: >-\n  %s\nport: 80", strings.ToLower(key), s), []string{s}
	}},
	{"json", false, false, func(key, s string) (string, []string) { return escaped(key, s, 0) }},
	{"json escaped", false, false, func(key, s string) (string, []string) { return escaped(key, s, 1) }},
	{"json escaped twice", false, false, func(key, s string) (string, []string) { return escaped(key, s, 2) }},
	{"python", false, false, func(key, s string) (string, []string) {
		return fmt.Sprintf("client = Client(%s='%s', timeout=3)", strings.ToLower(key), s), []string{s}
	}},
	{"go", false, false, func(key, s string) (string, []string) {
		return fmt.Sprintf("const %s = \"%s\"", camel(key), s), []string{s}
	}},
	{"js", false, false, func(key, s string) (string, []string) {
		return fmt.Sprintf("const opts = { %s: '%s', retries: 2 };", camel(key), s), []string{s}
	}},
	{"query", false, false, func(key, s string) (string, []string) {
		e := url.QueryEscape(s)
		return fmt.Sprintf("GET https://api.test/v1/items?page=2&%s=%s&limit=5 HTTP/1.1", strings.ToLower(key), e), []string{s, e}
	}},
	{"bearer", true, true, said("curl -H 'Authorization: Bearer %s' https://api.test/v1")},
	{"basic", true, false, func(_, s string) (string, []string) {
		e := base64.StdEncoding.EncodeToString([]byte("deploy:" + s))
		return "Authorization: Basic " + e, []string{e}
	}},
	{"url", true, true, func(_, s string) (string, []string) {
		e := url.QueryEscape(s)
		return "DATABASE is postgres://app:" + e + "@db.internal:5432/app?sslmode=require", []string{e}
	}},
	{"curl user", true, true, said("curl -u deploy:%s https://api.test/v1")},
	{"log", false, true, func(key, s string) (string, []string) {
		return fmt.Sprintf("2026-03-01T10:00:00Z ERROR login failed user=ann %s=%s attempt=3", strings.ToLower(key), s), []string{s}
	}},
	{"trace", false, true, func(key, s string) (string, []string) {
		return fmt.Sprintf("  File \"app.py\", line 3, in connect\nConnectionError: refused (%s='%s')", strings.ToLower(key), s), []string{s}
	}},
	{"flag", false, true, func(key, s string) (string, []string) {
		return fmt.Sprintf("$ ./deploy --%s %s --region eu", strings.ReplaceAll(strings.ToLower(key), "_", "-"), s), []string{s}
	}},
	{"table", false, true, assigned("| name | value |\n|---|---|\n| %s | %s |")},
	{"xml", false, true, func(key, s string) (string, []string) {
		k := camel(key)
		return fmt.Sprintf("<%s>%s</%s>", k, s, k), []string{s}
	}},
	{"continued", false, true, split("export %s=%s\\\n%s")},
	{"concatenated", false, true, split("%s = \"%s\" +\n    \"%s\"")},
	{"adjacent", false, true, split("%s = (\"%s\"\n    \"%s\")")},
	{"english", false, false, said("my password is %s, please log in with it")},
	{"english colon", false, false, said("The password for the staging server: %s")},
	{"english use", false, true, said("Use %s as the password.")},
	{"english token", false, true, said("the API key is %s. Do not share it.")},
	{"english quotes", false, false, said("The secret is “%s”.")},
	{"korean", false, true, said("비밀번호는 %s입니다. 로그인해 주세요.")},
	{"korean colon", false, false, said("비밀번호: %s")},
	{"korean key", false, true, said("API 키: %s 로 설정해 줘")},
	{"chinese", false, true, said("密码是%s，请登录。")},
	{"chinese colon", false, true, said("密码：%s")},
	{"chinese key", false, true, said("这是密钥：%s")},
	{"japanese", false, true, said("パスワードは%sです。")},
	{"japanese colon", false, false, said("パスワード：%s")},
	{"japanese token", false, true, said("アクセストークン: %s を使って")},
	{"german", false, false, said("Das Passwort lautet %s und gilt ab heute.")},
	{"german colon", false, false, said("Passwort: %s")},
	{"spanish", false, false, said("La contraseña es %s y no la cambies.")},
	{"french", false, false, said("Mot de passe : %s")},
	{"russian", false, false, said("Пароль: %s")},
}

// Cases returns each kind in each wording that fits it.
func Cases(seed uint64) []Case {
	m := NewMaker(seed)
	var all []Case
	for _, k := range kinds {
		for _, w := range wordings {
			secret := k.make(m)
			if w.bare && k.named && w.name != "basic" && w.name != "url" && w.name != "curl user" && w.name != "bearer" ||
				w.name == "bearer" && (k.name == "password" || k.name == "passphrase") ||
				w.plain && strings.ContainsAny(secret, "\"'\\ &") || strings.HasPrefix(secret, "https://") && (w.name == "url" || w.name == "bearer" || w.name == "curl user") {
				continue
			}
			text, secrets := w.tell(k.key, secret)
			all = append(all, Case{k.name, w.name, text, secrets})
		}
	}
	return append(append(all, keyCases(m)...), everydayCases(m)...)
}

// keyCases are private keys, whole and broken off, in quotes and escaped.
func keyCases(m *Maker) []Case {
	var all []Case
	for _, k := range []string{"RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"} {
		for _, w := range []string{"whole", "json", "quoted", "broken off", "indented", "one line"} {
			key := m.pem(k, 6)
			lines := strings.Split(key, "\n")
			text := ""
			switch w {
			case "whole":
				text = "cat id\n" + key + "\n$ "
			case "json":
				text = quoted(map[string]string{"private_key": key + "\n", "client_email": "a@b.test"})
			case "quoted":
				text = "He wrote:\n> " + strings.ReplaceAll(key, "\n", "\n> ")
			case "broken off":
				text = strings.Join(lines[:5], "\n") + "\n[output truncated]"
				lines = lines[:5]
			case "indented":
				text = "key: |\n    " + strings.ReplaceAll(key, "\n", "\n    ") + "\nport: 1"
			case "one line":
				text = "KEY=\"" + strings.ReplaceAll(key, "\n", `\n`) + "\""
			}
			c := Case{Kind: strings.ToLower(k), Wording: w, Text: text}
			for _, line := range lines {
				if !strings.HasPrefix(line, "-----") {
					c.Secrets = append(c.Secrets, line)
				}
			}
			all = append(all, c)
		}
	}
	return all
}
