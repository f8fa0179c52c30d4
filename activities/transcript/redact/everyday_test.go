package redact

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/deploy/local/sharedtest"
)

// Texts that look like these forms and hold no secret stay.
func TestEverydayTextStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"uses: actions/checkout@v4", "npm install @types/node@20.1.0 left/pad@1.2.3", "docker run -p 8080:80 --rm nginx",
		"docker login -u ann --password-stdin r.test", "git clone https://ann@github.test/org/repo", "main.go:5432:7:foo:bar",
		"tests: 12 pass: 11 fail: 1", "PASS: TestLogin (0.01s)", "ok, they all pass now", "password: must not be empty", "the password is stored as a hash",
		"password_length: 12", "TOKEN_TTL_SECONDS=3600", "PASSWORD_RESET_URL=https://x.test/reset", "token_type: bearer", "api_key_id: 17",
		"The area code is 0711.", "exit code: 137", "status code: 404", "zip code 70173", "country codes:\n  49\n  33\n",
		"error codes:\n  1001\n  1002\n", "Enter passphrase (empty for no passphrase): ", "Enter the password: it must have 8 characters",
		`{"name":"region","value":"eu-central-1a2b3c"}`, "redis-cli -h db -n 3 ping", "mongodump -d app -o /backup", "the seed: 42",
		"https://docs.test/webhooks/overview", "see https://api.test/hooks/on-push for it", "the pass rate is 97%", "my pass is over",
		"login/logout buttons", "the login and password fields are broken", `getpass("Enter password: ").strip()`, `read -s -p "Enter password: " PW`,
		"PASS: parser handles nested lists correctly", "the second pass is register allocation plus spilling",
		`{"name":"author","value":"Jane Doe, 2nd ed. 2019"}`, `{"name":"sidecar_image","value":"envoy-v1.29.3-debug"}`,
		"credentials: string | Credentials;", "credentials: Aws::Credentials.new(k)", "Credentials are read/written by", "see the log in tmp/agent-12.log",
		"a1b2c3d Add recovery codes\ne4f5a6b Fix login page\n9f8e7d6 Mend it\n", "expect(backupCodes).toEqual([code1, code2])",
		"The file must close with -----END PRIVATE KEY-----", "(password) =>\n  isLong(password)\n  ? x\n  : y",
		"token-service-1  | ts=2026-03-01T10:00:00Z", "secret_uuid=550e8400-e29b-41d4-a716-446655440000", `{"pass":1024,"fail":3}`, `{"pin":"GPIO17"}`, "pw = self.w//2",
		"https://github.com/pre-commit/pre-commit-hooks/commit/0123456789abcdef0123456789abcdef01234567", "https://login.test.com/36c47fb4-f57c-4e1c-8760-d42293932cc2/v2.0",
		"secret_event_proto_descriptor" + " = " + "file_cloud_secretmanager_logging_v2_event_proto_descriptor", "c29tZSBvcmRpbmFyeSB0ZXh0IGFib3V0IHRoZSB3ZWF0aGVy", "PWD=/home/ann", "pw, err := readPW()",
		"interface Login {\n  username: string\n  password: string\n}", "def f(password):\n  \"\"\"Reads the file and returns it.\"\"\"", "if user and self._password:\n    return",
		"by the --username and --password options of the program", "the seed: it carries the old state over and so the new run begins with it", "SELECT pass FROM runs WHERE pass = total",
		"password: z.string()", "password -> hash(password)", "password = prompt", "connect(password=password)", "pass = result.ok && done", "pin 13 is low", "pin: 13.2.0", "| sessionToken | getSessionTokenFromHeader |",
		"import { x } from '@/components'", "connect to ann/repo@v2.1.0", "git push -u origin main -p", "sudo -u ann mkdir -p build", "docker run -u root -p 8080:80 app", "ssh -p 2222 ann@host", "tar -xzf a.tgz -P b",
		"12:5432:ok", "http://localhost:5432:", "log: 10:20:30 app:5432:info:ready:now", "https://github.com/ann/hooks/blob/main/a.go", "https://x.test/hooks/use-state", "openssl ciphers -v -psk", "zip -r out.zip dir",
		"recovery codes:\nThey open the door once.\nabc123 is none", "See the recovery codes page, section 12 of 30.", "the password's length", "the passphrase is used to derive the key", "Password: see the vault",
		"name: session\nvalue: the one of today", `{"name":"timeout","value":"30s"}`, "seed: 42, words: one two three", "the code for the door is in the vault", "words:\nalpha\nbeta\ngamma", "echo $PASSWORD | sudo -S ls",
		"The test phrase is they said that this would never work for them after all these years", "security code 200 was returned",
		"Rephrase: the user must click save before they leave the page and then wait", "paraphrase: words alone with few marks make long lines hard when people read fast today",
		"falsehood and truth", "secret sauce: tomatoes and basil", "setup: run make first", "password: correct and long enough for all",
	} {
		got, _ := Text(text)
		require.Equal(t, text, got)
	}
}

// Secrets are found behind part of a rune, behind an equals sign, and beyond the first 4 KiB of a value.
func TestEverydayEdges(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte("password=" + "hunter2Summer"))
	for _, text := range []string{"\x80login", "CONFIG=" + encoded, `{"credentials_b64":"` + redacttest.NewMaker(3).Of(6000) + `"}`} {
		got, counts := Text(text)
		again, _ := Text(got)
		require.Equal(t, got, again)
		require.Equal(t, len(text) > 8, counts.Total() == 1, got)
		require.Less(t, len(got), 64)
	}
	many := "secret a: ABCDEFGHIJKLMNOP" + strings.Repeat(" b: ABCDEFGHIJKLMNOP", 12)
	got, _ := Text(many)
	again, _ := Text(got)
	require.Equal(t, got, again)
}

// Names within the value of another name add no reading of that value: findings overlap in time that grows with the text.
func TestNamesWithinNames(t *testing.T) {
	t.Parallel()
	for name, text := range hostile(100_000 / sharedtest.Share()) {
		total := 0
		for _, f := range scan(text, false) {
			total += f.End - f.Start
		}
		assert.Less(t, total, 8*len(text), name)
		got, _ := Text(text)
		require.NotContains(t, got, "a1%Zq", name)
	}
	// A long value that is no secret hides no secret within.
	note := `token: "` + strings.Repeat("ordinary words of a note ", 60) + "token: Zq81%xBv72Lk" + strings.Repeat(" and more words", 60) + `"`
	got, _ := Text(note)
	require.NotContains(t, got, "Zq81%xBv72Lk")
}

// hostile returns texts in which each name's value reaches to the end of the text.
func hostile(size int) map[string]string {
	fill := strings.Repeat("x%", 26)
	texts := map[string]string{
		"sparse names": "password=a1%Zq" + fill, "dense names": "password=", "environment": "X_KEY=a1%Zq" + strings.Repeat(fill, 2),
		"yaml": "password: |\n a1%Zq" + fill + "\n ", "words": "--password--" + strings.Repeat("x", 60), "urls": "db://ann:a1%Zq@h",
	}
	for name, part := range texts {
		texts[name] = strings.Repeat(part, size/len(part))
	}
	return texts
}
