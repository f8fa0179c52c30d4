// Package redacttest generates texts with secrets, and ordinary ones, to test redaction with. Each seed generates new
// secrets, so that none is in the source, and no rule is fitted to them.
package redacttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Alphabets of credentials.
const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	hexes  = digits + "abcdef"
	alnum  = lower + upper + digits
	word   = alnum + "_-"
	b64    = alnum + "+/"
	base32 = upper + "234567"
)

// Maker makes secrets.
type Maker struct{ random *rand.Rand }

// NewMaker returns a maker of the secrets of a seed.
func NewMaker(seed uint64) *Maker { return &Maker{rand.New(rand.NewPCG(seed, seed^0x5eed))} } //nolint:gosec // G404: they are for tests

// of returns n random characters of the alphabet.
func (m *Maker) of(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.random.IntN(len(alphabet))]
	}
	return string(b)
}

// Of returns n random letters and digits.
func (m *Maker) Of(n int) string { return m.of(n, alnum) }

func (m *Maker) uuid() string {
	return fmt.Sprintf("%s-%s-4%s-a%s-%s", m.of(8, hexes), m.of(4, hexes), m.of(3, hexes), m.of(3, hexes), m.of(12, hexes))
}

// password is one that a person chose.
func (m *Maker) password() string {
	words := []string{"summer", "Tiger", "coffee", "Berlin", "monkey", "Dragon", "winter", "guitar"}
	marks := "!#$%&*+?@"
	return words[m.random.IntN(len(words))] + m.of(1, marks) + words[m.random.IntN(len(words))] + m.of(3, digits)
}

func (m *Maker) pem(kind string, lines int) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + kind + "-----\n")
	for range lines {
		b.WriteString(m.of(64, b64) + "\n")
	}
	b.WriteString(m.of(27, b64) + "=\n-----END " + kind + "-----")
	return b.String()
}

func (m *Maker) jwt() string {
	return "eyJ" + m.of(33, alnum) + ".eyJ" + m.of(80, word) + "." + m.of(43, word)
}

// kind is a kind of secret. Only its name distinguishes a named one from other text.
type kind struct {
	name string
	// key is how a file of settings calls it.
	key   string
	named bool
	make  func(*Maker) string
}

func prefixed(prefix string, n int, alphabet string) func(*Maker) string {
	return func(m *Maker) string { return prefix + m.of(n, alphabet) }
}

var kinds = []kind{
	{"aws-access-key-id", "AWS_ACCESS_KEY_ID", false, prefixed("AKIA", 16, base32)},
	{"aws-secret-access-key", "AWS_SECRET_ACCESS_KEY", false, prefixed("", 40, b64)},
	{"aws-session-token", "AWS_SESSION_TOKEN", false, prefixed("IQoJb3JpZ2lu", 300, b64)},
	{"github-pat", "GITHUB_TOKEN", false, prefixed("ghp_", 36, alnum)},
	{"github-oauth", "GH_TOKEN", false, prefixed("gho_", 36, alnum)},
	{"github-server", "GITHUB_TOKEN", false, prefixed("ghs_", 36, alnum)},
	{"github-fine-grained", "GITHUB_TOKEN", false, func(m *Maker) string { return "github_pat_" + m.of(22, alnum) + "_" + m.of(59, alnum) }},
	{"gitlab-pat", "GITLAB_TOKEN", false, prefixed("glpat-", 20, alnum)},
	{"slack-bot", "SLACK_BOT_TOKEN", false, func(m *Maker) string {
		return "xoxb-" + m.of(12, digits) + "-" + m.of(12, digits) + "-" + m.of(24, alnum)
	}},
	{"slack-user", "SLACK_TOKEN", false, func(m *Maker) string {
		return "xoxp-" + m.of(12, digits) + "-" + m.of(12, digits) + "-" + m.of(12, digits) + "-" + m.of(32, hexes)
	}},
	{"slack-webhook", "SLACK_WEBHOOK_URL", false, func(m *Maker) string {
		return "https://hooks.slack.com/services/T" + m.of(8, base32) + "/B" + m.of(10, base32) + "/" + m.of(24, alnum)
	}},
	{"stripe-live", "STRIPE_SECRET_KEY", false, prefixed("sk_live_", 24, alnum)},
	{"stripe-restricted", "STRIPE_KEY", false, prefixed("rk_live_", 24, alnum)},
	{"openai-project", "OPENAI_API_KEY", false, prefixed("sk-proj-", 120, alnum)},
	{"openai-old", "OPENAI_API_KEY", false, prefixed("sk-", 48, alnum)},
	{"anthropic", "ANTHROPIC_API_KEY", false, func(m *Maker) string { return "sk-ant-api03-" + m.of(93, word) + "AA" }},
	{"google-api", "GOOGLE_API_KEY", false, prefixed("AIza", 35, alnum)},
	{"google-oauth", "GOOGLE_CLIENT_SECRET", false, prefixed("GOCSPX-", 28, alnum)},
	{"azure-storage", "AZURE_STORAGE_KEY", false, func(m *Maker) string { return m.of(86, b64) + "==" }},
	{"azure-client-secret", "AZURE_CLIENT_SECRET", false, func(m *Maker) string { return m.of(3, alnum) + "8Q~" + m.of(34, alnum) }},
	{"npm", "NPM_TOKEN", false, prefixed("npm_", 36, alnum)},
	{"pypi", "TWINE_PASSWORD", false, prefixed("pypi-AgEIcHlwaS5vcmc", 120, word)},
	{"rubygems", "GEM_HOST_API_KEY", false, prefixed("rubygems_", 48, hexes)},
	{"docker", "DOCKER_PASSWORD", false, prefixed("dckr_pat_", 27, alnum)},
	{"hugging-face", "HF_TOKEN", false, prefixed("hf_", 34, lower+upper)},
	{"sendgrid", "SENDGRID_API_KEY", false, func(m *Maker) string { return "SG." + m.of(22, word) + "." + m.of(43, word) }},
	{"twilio-key", "TWILIO_API_KEY", false, prefixed("SK", 32, hexes)},
	{"twilio-token", "TWILIO_AUTH_TOKEN", true, prefixed("", 32, hexes)},
	{"mailgun", "MAILGUN_API_KEY", true, prefixed("key-", 32, hexes)},
	{"digitalocean", "DIGITALOCEAN_TOKEN", false, prefixed("dop_v1_", 64, hexes)},
	{"heroku", "HEROKU_API_KEY", true, func(m *Maker) string { return m.uuid() }},
	{"cloudflare", "CLOUDFLARE_API_TOKEN", false, prefixed("", 40, alnum)},
	{"datadog-api", "DD_API_KEY", true, prefixed("", 32, hexes)},
	{"datadog-app", "DD_APP_KEY", true, prefixed("", 40, hexes)},
	{"new-relic", "NEW_RELIC_LICENSE_KEY", true, func(m *Maker) string { return m.of(36, hexes) + "NRAL" }},
	{"linear", "LINEAR_API_KEY", false, prefixed("lin_api_", 40, alnum)},
	{"notion", "NOTION_TOKEN", false, prefixed("ntn_", 46, alnum)},
	{"databricks", "DATABRICKS_TOKEN", false, prefixed("dapi", 32, hexes)},
	{"shopify", "SHOPIFY_TOKEN", false, prefixed("shpat_", 32, hexes)},
	{"telegram", "TELEGRAM_BOT_TOKEN", false, func(m *Maker) string { return m.of(10, "123456789") + ":A" + m.of(34, word) }},
	{"discord", "DISCORD_BOT_TOKEN", false, func(m *Maker) string { return "M" + m.of(25, alnum) + "." + m.of(6, alnum) + "." + m.of(38, word) }},
	{"jwt", "ID_TOKEN", false, (*Maker).jwt},
	{"vault", "VAULT_TOKEN", false, prefixed("hvs.", 90, word)},
	{"terraform-cloud", "TFC_TOKEN", false, func(m *Maker) string { return m.of(14, alnum) + ".atlasv1." + m.of(67, word) }},
	{"age", "AGE_SECRET_KEY", false, prefixed("AGE-SECRET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")},
	{"password", "DB_PASSWORD", true, (*Maker).password},
	{"passphrase", "SSH_PASSPHRASE", true, (*Maker).password},
	{"session-cookie", "SESSION_ID", true, prefixed("s%3A", 32, alnum)},
	{"totp-seed", "TOTP_SECRET", true, prefixed("", 32, base32)},
	{"hex-key", "ENCRYPTION_KEY", true, prefixed("", 64, hexes)},
	{"base64-key", "SIGNING_KEY", false, func(m *Maker) string {
		b := make([]byte, 32)
		for i := range b {
			b[i] = byte(m.random.IntN(256))
		}
		return base64.StdEncoding.EncodeToString(b)
	}},
}
