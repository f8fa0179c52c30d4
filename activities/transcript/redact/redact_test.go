package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestText(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("aB3dE5gH1jK7", 3)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "The author sat at the keyboard.", "The author sat at the keyboard."},
		{"env", "DB_PASSWORD=hunter2Summer", "DB_PASSWORD=[redacted: named-secret]"},
		{"placeholder of others", "[redacted: password]: hunter2Summer!", "[redacted: password]: [redacted: named-secret]"},
		{"prose", "my password is hunter2!", "my password is [redacted: named-secret]"},
		{"json", `{"password": "correct horse battery staple"}`, `{"password": "[redacted: named-secret]"}`},
		{"escaped json", `{"args":"{\"password\":\"hunter2Summer\"}"}`, `{"args":"{\"password\":\"[redacted: named-secret]\"}"}`},
		{"double escaped", `"{\\\"api_key\\\":\\\"` + key + `\\\"}"`, `"{\\\"api_key\\\":\\\"[redacted: named-secret]\\\"}"`},
		{"korean", "비밀번호는 hunter2Summer입니다", "비밀번호는 [redacted: named-secret]입니다"},
		{"korean colon", "비밀번호: hunter2Summer", "비밀번호: [redacted: named-secret]"},
		{"chinese", "密码是hunter2Summer，别告诉别人", "密码是[redacted: named-secret]，别告诉别人"},
		{"japanese", "パスワードはhunter2Summerです。", "パスワードは[redacted: named-secret]です。"},
		{"german", "Das Passwort lautet hunter2Summer.", "Das Passwort lautet [redacted: named-secret]."},
		{"spanish", "la contraseña es hunter2Summer", "la contraseña es [redacted: named-secret]"},
		{"french", "mot de passe : hunter2Summer", "mot de passe : [redacted: named-secret]"},
		{"url", "postgres://app:p@ss/w0rd@db.local:5432/x", "postgres://app:[redacted: url-password]@db.local:5432/x"},
		{"percent", "https://x.test/?password=hunter%32Summer&a=1", "https://x.test/?password=[redacted: named-secret]&a=1"},
		{"gitleaks", "take ghp_" + key + "xy1 for it", "take [redacted: github-pat] for it"},
		{"reversed", "Use hunter2Summer as the password", "Use [redacted: named-secret] as the password"},
		{"continued", "export PASSWORD=hunt\\\n  er2Summer", "export PASSWORD=[redacted: named-secret]"},
		{"end of a word", "BACKEND_TOKEN=" + key, "BACKEND_TOKEN=[redacted: named-secret]"},
		{"word before", `"nextPageToken": "` + key[:20] + `"`, `"nextPageToken": "` + key[:20] + `"`},
		{"flag", "login --password hunter2Summer --user me", "login --password [redacted: named-secret] --user me"},
		{"session ids", `{"session_id": "550e8400-e29b-41d4-a716-446655440000", "sessionId": "checkout/1"}`, `{"session_id": "550e8400-e29b-41d4-a716-446655440000", "sessionId": "checkout/1"}`},
		{"blank", "log in as admin, password hunter2Summer!", "log in as admin, password [redacted: named-secret]"},
		{"korean blank", "비번 hunter2Summer 야", "비번 [redacted: named-secret] 야"},
		{"sql", "CREATE USER bob IDENTIFIED BY 'hunter'", "CREATE USER bob IDENTIFIED BY '[redacted: named-secret]'"},
		{"docker auth", `{"auths":{"r.test":{"auth":"ZGVwbG95Omh1bnRlcjJTdW1tZXI="}}}`, `{"auths":{"r.test":{"auth":"[redacted: named-secret]"}}}`},
		{"path", "/tmp/TestSourcesOfPersonsAndOthers117796591/002 is missing", "/tmp/TestSourcesOfPersonsAndOthers117796591/002 is missing"},
		{"tool call", "toolu_01TMmQ3t5d7tsfV6EWEhL3Ny answered call_8sVb2KqWmZ1xYtR4LpNc7DfG", "toolu_01TMmQ3t5d7tsfV6EWEhL3Ny answered call_8sVb2KqWmZ1xYtR4LpNc7DfG"},
		{"message id", "<CAF3k9Xq2mZb7LtPwR5vN8sYdE1cHgJ6uK@mail.test>", "<CAF3k9Xq2mZb7LtPwR5vN8sYdE1cHgJ6uK@mail.test>"},
		{"public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIQk3vZ8xT2mWbR7LqYpN4sVdE9cHgJ6u ann", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIQk3vZ8xT2mWbR7LqYpN4sVdE9cHgJ6u ann"},
		{"certificate", "-----BEGIN CERTIFICATE-----\n" + key + "Zz9+\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\n" + key + "Zz9+\n-----END CERTIFICATE-----"},
		{"private", "a <private>b</private> c", "a [redacted: private] c"},
		{"nested", "a <private>b <private>c</private> d</private> e", "a [redacted: private] e"},
		{"unclosed", "a <private reason='x'>b c", "a [redacted: private]"},
		{"fence", "```\n<PRIVATE>b</PRIVATE>\n```", "```\n[redacted: private]\n```"},
		{"spoken of", "what does `<private>` do?", "what does `<private>` do?"},
		{"other tag", "<privateer>b</privateer>", "<privateer>b</privateer>"},
		{"code", "password := os.Getenv(\"DB_PASSWORD\")", "password := os.Getenv(\"DB_PASSWORD\")"},
		{"type", "password: string", "password: string"},
		{"message", `errors.password = "Password is required"`, `errors.password = "Password is required"`},
		{"words", "the password is required, and the token is invalid", "the password is required, and the token is invalid"},
		{"count", "tokens used: 15321532", "tokens used: 15321532"},
		{"placeholder", "password: [redacted: named-secret]", "password: [redacted: named-secret]"},
		{"placeholder is no name", "password=hunter2Summer!: g\ufeffÀ0long", "password=[redacted: named-secret]: g\ufeffÀ0long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, counts := Text(c.text)
			require.Equal(t, c.want, got)
			again, none := Text(got)
			require.Equal(t, got, again)
			require.Empty(t, none)
			require.Equal(t, len(schema.Redactions(c.want))-len(schema.Redactions(c.text)), counts.Total())
		})
	}
}
