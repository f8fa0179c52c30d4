package evidence

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// prose is a corpus of our own: what people write in sessions, with truth made from it.
var prose = map[string]string{
	"english": `When we moved the billing service to the new cluster last autumn, nobody expected the certificates to be the hard part. The first attempt failed because the renewal job was still bound to the old address, and the second because somebody had copied the configuration without the trailing dot. “It's always the dot,” Harriet said, and she was right again. After that we wrote down three rules: measure before you change anything, keep the old path open for at least two weeks, and tell support what to expect — in plain words, on the day before. The third migration took forty minutes and went unnoticed by everyone outside the team. I'd still like to understand why the connection pool needed twice as many sockets afterwards; my best guess is that the health checks now open a fresh connection each time. Let's look at the graphs together tomorrow, preferably with coffee. Meanwhile the archive keeps growing by roughly eleven gigabytes a day, which is more than the forecast assumed but less than the disks can take until spring.`,
	"korean":  `지난주에 결제 서비스를 새로운 클러스터로 옮기면서 예상하지 못한 문제가 하나 있었습니다. 인증서를 갱신하는 작업이 여전히 예전 주소를 바라보고 있었기 때문에, 첫 번째 시도에서는 배포가 중간에 멈췄습니다. 두 번째 시도에서는 설정 파일을 복사하는 과정에서 마지막 줄이 빠졌고, 그 사실을 알아내는 데 한 시간이 걸렸습니다. 그래서 우리는 세 가지 규칙을 정했습니다. 바꾸기 전에 먼저 측정하고, 예전 경로를 적어도 이 주 동안 열어 두며, 고객 지원팀에는 전날 쉬운 말로 설명하기로 했습니다. 세 번째 이전 작업은 사십 분 만에 끝났고 팀 밖에서는 아무도 눈치채지 못했습니다. 다만 연결 수가 왜 두 배로 늘었는지는 아직 분명하지 않으니, 내일 오전에 그래프를 함께 살펴봅시다. 보관 저장소는 하루에 십일 기가바이트씩 늘어나고 있는데, 예측보다는 많지만 봄까지는 디스크가 버틸 수 있습니다.`,
	"chinese": `上周我们把支付服务迁移到新的集群，最困难的部分竟然是证书。第一次尝试失败，是因为续期任务仍然指向旧地址；第二次则是有人复制配置时漏掉了最后一行，排查花了整整一个小时。于是团队定下三条规矩：修改之前先测量，旧的入口至少保留两周，提前一天用简单的语言告诉客服会发生什么。第三次迁移只用了四十分钟，团队以外的人完全感觉不到变化。连接数为什么翻了一倍，目前还不清楚，大家猜测是健康检查每次都会建立新的连接。明天上午我们一起看监控图表，顺便讨论归档的增长速度：每天大约十一个吉字节，比预测多一些，但是磁盘可以撑到春天。`,
	"code":    "```go\nfunc (s *Store) Append(ctx context.Context, stream string, events []Event) error {\n\tif len(events) == 0 {\n\t\treturn nil\n\t}\n\tbatch, err := s.conn.PrepareBatch(ctx, insertEvents)\n\tif err != nil {\n\t\treturn fmt.Errorf(\"prepare batch of %q: %w\", stream, err)\n\t}\n\tfor _, event := range events {\n\t\tif err := batch.AppendStruct(&event); err != nil {\n\t\t\treturn fmt.Errorf(\"append event %q: %w\", event.ID, err)\n\t\t}\n\t}\n\treturn batch.Send()\n}\n```\nThe retry loop wraps `Append` and calls **context.WithTimeout** around every attempt; the caller decides whether a duplicate is an error. See `store_test.go` for the conformance suite that both implementations must pass.\n",
	"table":   "| Component | Owner | Latency | Remark |\n|---|---|---|---|\n| event log | storage team | 12 ms | append only, never updated |\n| vector index | search team | 48 ms | rebuilt from the log every Sunday |\n| task projector | workflow team | 7 ms | single writer per project |\n| transcript reader | ingestion team | 31 ms | tolerates truncated files |\n\nThe table above lists the *median* over seven days, measured from the client. Numbers in the dashboard include the network, so they are about a third higher than these; compare like with like before raising an incident.\n",
}

// noise turns a stretch of a text into a quote of it.
type noise func(r *rand.Rand, text []rune) []rune

func replaceRunes(pairs map[rune]string) noise {
	return func(_ *rand.Rand, text []rune) []rune {
		var out []rune
		for _, c := range text {
			if to, ok := pairs[c]; ok {
				out = append(out, []rune(to)...)
			} else {
				out = append(out, c)
			}
		}
		return out
	}
}

var noises = map[string]noise{
	"verbatim": func(_ *rand.Rand, text []rune) []rune { return text },
	"typography": replaceRunes(map[rune]string{
		'"': "”", '\'': "’", '-': "–", '—': "--", '“': "\"", '”': "\"", '’': "'", ' ': "\u00a0", '…': "...",
	}),
	"plain": func(_ *rand.Rand, text []rune) []rune {
		return []rune(strings.Join(strings.Fields(strings.ToLower(string(text))), " "))
	},
	"wide": func(_ *rand.Rand, text []rune) []rune {
		out := make([]rune, 0, len(text))
		for _, c := range text {
			if c > ' ' && c < 0x7f && c != '*' && c != '_' && c != '`' && c != '|' && c != '~' {
				c += 0xFEE0
			} else if c == ' ' {
				c = '\u3000'
			}
			out = append(out, c)
		}
		return out
	},
	"invisible": func(r *rand.Rand, text []rune) []rune {
		var out []rune
		for i, c := range text {
			if i > 0 && r.IntN(12) == 0 && unicode.IsLetter(c) {
				out = append(out, []rune{'\u200b', '\u00ad', '\ufeff'}[r.IntN(3)])
			}
			out = append(out, c)
		}
		return out
	},
	"wrapped": func(r *rand.Rand, text []rune) []rune {
		var out []rune
		for _, c := range text {
			if c == ' ' && r.IntN(5) == 0 {
				out = append(out, []rune("\n    ")...)
				continue
			}
			out = append(out, c)
		}
		return out
	},
	"scanner": scan,
}

// scan makes the mistakes of character recognition in up to four long words: look-alikes, a letter
// lost, a foreign one, two words run together. Digits and words in capitals it reads well.
func scan(r *rand.Rand, text []rune) []rune {
	out := append([]rune(nil), text...)
	for left, tries := 1+len(text)/40, 0; left > 0 && tries < 200; tries++ {
		i := 3 + r.IntN(max(1, len(out)-6))
		if i+3 >= len(out) || !middleOfWord(out, i) {
			continue
		}
		switch c := out[i]; {
		case c == 'l' || c == 'i':
			out[i] = '1'
		case c == 'o':
			out[i] = '0'
		case c == 'm':
			out = append(out[:i], append([]rune("rn"), out[i+1:]...)...)
		case c > 0x2E80:
			out[i] = []rune("xkqz")[r.IntN(4)]
		case r.IntN(2) == 0:
			out = append(out[:i], out[i+1:]...)
		default:
			out[i] = []rune("xqz가")[r.IntN(4)]
		}
		left--
	}
	return out
}

// middleOfWord reports whether a rune has three letters of a word without capitals on either side,
// or stands in a text without words.
func middleOfWord(text []rune, i int) bool {
	if text[i] > 0x2E80 {
		return unicode.IsLetter(text[i]) && unicode.IsLetter(text[i-1]) && unicode.IsLetter(text[i+1]) && !critical[text[i]] && !denying[text[i]]
	}
	for j := i - 3; j <= i+3; j++ {
		if j < 0 || j >= len(text) || !unicode.IsLower(text[j]) || text[j] > 0x2E80 {
			return false
		}
	}
	return true
}

func TestProseIsFoundWithExactBorders(t *testing.T) {
	t.Parallel()
	const each = 60
	total, exact := 0, 0
	for name, text := range prose {
		runes := []rune(text)
		a := NewAligner(message(text), nil)
		for kind, spoil := range noises {
			r := rand.New(rand.NewPCG(uint64(len(name)), uint64(len(kind))))
			aligned, borders, items := 0, 0, 0
			for items < each {
				start := r.IntN(len(runes) - 60)
				end := start + 40 + r.IntN(min(120, len(runes)-start-40))
				if !edge(runes, start) || !edge(runes, end-1) {
					continue
				}
				items++
				e := a.Align(schema.Quote{Quote: string(spoil(r, runes[start:end]))})
				if !e.Aligned {
					continue
				}
				aligned++
				require.NoError(t, Verify(text, e))
				if e.Span.RuneStart == start && e.Span.RuneEnd == end {
					borders++
				}
			}
			total, exact = total+items, exact+borders
			if borders < items {
				t.Logf("%s, %s: %d quotes, %d aligned, %d exact borders", name, kind, items, aligned, borders)
			}
		}
	}
	t.Logf("%d quotes of prose: %d with exact borders (%.2f %%)", total, exact, 100*float64(exact)/float64(total))
	require.GreaterOrEqual(t, float64(exact), 0.99*float64(total))
}

// edge reports whether a quote can begin or end at a rune with no doubt about its border.
func edge(text []rune, i int) bool { return unicode.IsLetter(text[i]) }
