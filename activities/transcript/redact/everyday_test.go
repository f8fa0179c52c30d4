package redact

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What looks as these forms do, and holds no secret, stays.
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
		"login/logout buttons", "https://login.test.com/36c47fb4-f57c-4e1c-8760-d42293932cc2/v2.0",
		"secret_event_proto_descriptor" + " = " + "file_cloud_secretmanager_logging_v2_event_proto_descriptor", "c29tZSBvcmRpbmFyeSB0ZXh0IGFib3V0IHRoZSB3ZWF0aGVy", "PWD=/home/ann", "pw, err := readPW()",
		"falsehood and truth", "secret sauce: tomatoes and basil", "setup: run make first", "password: correct and long enough for all",
	} {
		got, _ := Text(text)
		require.Equal(t, text, got)
	}
}
