package evidence

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func alignOne(message, quote string) schema.Evidence {
	return NewAligner([]schema.Message{{Text: message}}, nil).Align(schema.Quote{Quote: quote})
}

// Each quote has another meaning than its message, or is less than one sentence of it, in a way that normal form 1 or
// a boundary might hide.
func TestHostileQuotesProveNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range [][2]string{
		// characters that the form folds
		{"Er trinkt in Maßen.", "Er trinkt in Massen."},
		{"Er trinkt in Massen.", "Er trinkt in Maßen."},
		{"Temperature is ⁻5 now.", "Temperature is -5 now."},
		{"It costs 10⁻ now ok.", "It costs 10- now ok."},
		{"Take x₊ now please.", "Take x+ now please."},
		{"Run git checkout -- file now.", "Run git checkout - file now."},
		{"So i--5 is 10.", "So i-5 is 10."},
		{"Set FOO to bar now.", "set foo to bar now."},
		{"It rose by 10⁶ %.", "It rose by 106 %."},
		{"It is ½ full now.", "It is 1⁄2 full now."},
		// struck-through text
		{"~~Use Redis. Use Postgres. Use Kafka.~~", "Use Postgres."},
		{"~~Use Redis. Use Postgres. Use Kafka.~~", "use  postgres."},
		{"~~Use Redis. Use Postgres.~~", "Use Postgres"},
		{"~~Use Redis.\nUse Postgres.\nUse Kafka.~~", "Use Postgres."},
		{"~~Use Redis.~~ Ok", "Use Redis."},
		{"We agreed on it. ~~Use Redis.~~", "We agreed on it. Use Redis."},
		// code
		{"Intro:\n```\nfoo\n\nBar x\n```", "Intro:\n```\nfoo\n\nbar x\n```"},
		{"Intro:\r\n~~~\r\nfoo\r\n\r\nBar x\r\n~~~", "Intro: ~~~ foo bar x ~~~"},
		{"Call `Foo` or ``a`B`` now.", "Call `Foo` or ``a`b`` now."},
		{"call *args and **kwargs now please", "call args and kwargs now please"},
		// boundaries
		{"We will not (really!) deploy on Friday.", "deploy on Friday."},
		{"Nobody said \"why?\" and left.", "and left."},
		{"Keiner rief „Halt!“ und blieb stehen.", "und blieb stehen."},
		{"Personne n’a dit « Oui ! » et n’est parti.", "et n’est parti."},
		{"□ write tests", "write tests"},
		{"-  *5* errors fail.", "5 errors fail."},
		{"- **5** errors fail.", "**5** errors fail."},
		{"> ~5 errors fail.", "~5 errors fail."},
		{"> (5 or more) errors fail.", "(5 or more) errors fail."},
		{"At most approx. 5 retries are allowed.", "5 retries are allowed."},
		{"We deploy on Friday?", "We deploy on Friday."},
		{"We deploy on Friday", "We deploy on Friday."},
		{"We deploy on Friday...", "We deploy on Friday"},
		{"We deploy on Friday.**?**", "We deploy on Friday."},
		{"We deploy v1.\u20605 now.", "We deploy v1"},
	} {
		e := alignOne(tc[0], tc[1])
		require.False(t, e.Proven, "%q of %q", tc[1], tc[0])
		if e.Found {
			require.NoError(t, Verify(tc[0], e, Rule))
		}
	}
}

// Each quote is whole sentences or lines, as a person would say.
func TestWholeQuotesProve(t *testing.T) {
	t.Parallel()
	for _, tc := range [][2]string{
		{"  We deploy now.\n", "  We deploy now.\n"},
		{"\tWe deploy now\r\n", "\tWe deploy now\r\n"},
		{"Go on. We deploy now. Bye", " We deploy now. "},
		{"**We deploy on Friday.**", "We deploy on Friday"},
		{"*We deploy.* **We deploy on Friday.** Ok", "We deploy on Friday"},
		{"~~Use Redis.~~ Use Postgres.", "Use Postgres."},
		{"~~Use Redis.~~ Use Postgres.", "~~use Redis.~~ Use Postgres."},
		{"Wait — and run -- it.", "Wait -- and run — it."},
		{"Straße gesperrt am 5. März.", "straße gesperrt am 5. März."},
		{"We left (really!). Then we slept (not!) Well.", "Then we slept (not!)"},
		{"He said \"Stop!\" Then he left.", "Then he left."},
		{"does it work? yes it does", "yes it does"},
		{"- **Decision:** use Postgres now.", "Decision: use Postgres now"},
		{"- **1 of 2** tests fail", "- 1 of 2 tests fail"},
		{"- 1. First the tests", "First the tests"},
	} {
		e := alignOne(tc[0], tc[1])
		require.True(t, e.Proven, "%q of %q: %s", tc[1], tc[0], e.Method)
		require.NoError(t, Verify(tc[0], e, Rule))
	}
}

func TestManyMarksCostLittle(t *testing.T) {
	t.Parallel()
	manyMarks(t, 16, 3*time.Second)
}

// The cost of a judgement stays linear in the message and the quote, whatever marks they hold. Messages have a part of
// their full size, and most is the CPU time of all judgements of a message. A linear one takes a tenth of it.
func manyMarks(t *testing.T, part int, most time.Duration) {
	t.Helper()
	var runs strings.Builder
	for n := 1; n < 4800/part && n < 1200; n++ {
		runs.WriteString(strings.Repeat("`", n) + " ")
	}
	for name, message := range map[string]string{
		"emphasis":           strings.Repeat("*a* **b** ", 1<<15/part),
		"emphasis and code":  strings.Repeat("*a* `b` ", 1<<15/part),
		"open emphasis":      strings.Repeat("*a ", 1<<16/part),
		"struck":             strings.Repeat("~~a~~ ", 1<<15/part),
		"runs of backticks":  runs.String() + strings.Repeat("*word* ", 1<<12/part),
		"without width":      strings.Repeat("\u200b", 1<<17/part) + "some words" + strings.Repeat("\u200b*", 1<<16/part),
		"sentences of marks": strings.Repeat("*Some words.* ", 1<<14/part),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			begun := threadTime()
			for _, quote := range []string{strings.ToUpper(message), strings.ReplaceAll(message, "*", ""), "some  words", "Some words."} {
				e := alignOne(message, quote)
				if e.Found {
					require.NoError(t, Verify(message, e, Rule))
				}
			}
			used := threadTime() - begun
			t.Log(used)
			require.Less(t, used, most)
		})
	}
}

// threadTime returns the CPU time of the thread, or nothing on a system that does not count it.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD of Linux
	var u syscall.Rusage
	if syscall.Getrusage(thread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func FuzzHostile(f *testing.F) {
	for _, s := range [][2]string{
		{"~~a b c d e. Fghij~~ `x` **klmno**\n```\n", "Fghij"}, {"\xff- abcde\u200d. \xc2Fghij", "ABCDE"},
		{"> - **abcde** -- ‘fghij’.\r\n", "abcde - 'fghij'"}, {"abcde\u0301 ~~\n\n`` ` ``", " abcde\u0301 "},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, message, quote string) {
		e := alignOne(message, quote)
		require.Equal(t, e, alignOne(message, quote))
		if e.Found {
			require.NoError(t, Verify(message, e, Rule))
		}
	})
}
