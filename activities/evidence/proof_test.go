package evidence_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// TestProofIsWholeSentences is I5: whatever the message and the quote, a proof is a run of whole sentences or lines
// of the message, by a splitter and a comparison that share nothing with the rule.
func TestProofIsWholeSentences(t *testing.T) {
	t.Parallel()
	messages := realMessages(t)
	var o outcome
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(messages).Draw(t, "message")
		quote := drawQuote(t, m)
		e := align(m, quote)
		o.add(e)
		if !e.Found {
			require.False(t, e.Aligned || e.Proven)
			require.ErrorIs(t, evidence.Verify(m, e, evidence.Rule), evidence.ErrFalse)
			return
		}
		require.Equal(t, m[e.Span.ByteStart:e.Span.ByteEnd], e.Text)
		for _, span := range append(e.Occurrences, e.Span) {
			requireSpan(t, m, span)
		}
		require.NoError(t, evidence.Verify(m, e, evidence.Rule))
		if !e.Proven {
			requireWithin(t, m, e)
			requireTrueByRule0(t, m, e)
			return
		}
		require.True(t, e.Aligned)
		require.True(t, slices.ContainsFunc(wholeRuns(m, false), func(run string) bool { return saysTheSame(run, quote) }),
			"no run of whole sentences or lines is the quote %q\n  %q", quote, m)
		require.ErrorIs(t, evidence.Verify(m, e, 0), evidence.ErrFalse, "rule 0 claims no proof")
	})
	t.Log(&o)
	require.Greater(t, o.proven, o.quotes/10)
	require.Greater(t, o.quotes-o.proven, o.quotes/4)
}

// TestWholeSentencesProve is the other half: any run of whole sentences or lines proves, also with other spaces
// and without its final full stop.
func TestWholeSentencesProve(t *testing.T) {
	t.Parallel()
	messages := realMessages(t)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(messages).Draw(t, "message")
		run := rapid.SampledFrom(wholeRuns(m, true)).Draw(t, "run")
		quote := rapid.SampledFrom(harmless).Draw(t, "change")(run)
		if letters(quote) < schema.MinLetters || strings.HasPrefix(run, "--") {
			return // the normal form of dashes depends on the text before them
		}
		e := align(m, quote)
		require.True(t, e.Proven, "%q of %q: %+v", quote, m, e)
	})
}

// TestLimitsOfTheRule pins the errors, on either side, of one rule for all languages.
func TestLimitsOfTheRule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message, quote string
		proves         bool
	}{
		"abbreviation before a capital":     {"We asked Dr. Smith to sign. He did.", "Smith to sign.", true},
		"sentence that begins small":        {"the tests pass. the build fails.", "the tests pass.", false},
		"Dutch apostrophe":                  {"De kassa is open. 's Avonds is hij dicht.", "De kassa is open.", false},
		"Thai sentence within a line":       {"ทดสอบผ่านแล้ว บิลด์ล้มเหลว", "ทดสอบผ่านแล้ว", false},
		"Tibetan sentence within a line":    {"ཡིག་ཚགས་འདི་གསར་པ་རེད། དེ་རྙིང་པ་རེད།", "ཡིག་ཚགས་འདི་གསར་པ་རེད།", false},
		"what a sentence refers to":         {"Should we drop the index? We agreed on it.", "We agreed on it.", true},
		"what the sentence before took out": {"None of this is true: the vote is over. Guests may vote.", "Guests may vote.", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := align(c.message, c.quote)
			require.True(t, e.Aligned, e.Reason)
			require.Equal(t, c.proves, e.Proven)
		})
	}
}

// harmless are changes after which a whole sentence still proves.
var harmless = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return " \n" + s + "\u3000 " },
	func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") },
	func(s string) string { return strings.ReplaceAll(s, " ", "  \t") },
	func(s string) string { return strings.NewReplacer("’", "'", "“", `"`, "”", `"`).Replace(s) },
	withoutFullStop,
}

var plainStop = regexp.MustCompile(`([\p{L}\p{M}])[.。।۔։።]$`)

func withoutFullStop(s string) string { return plainStop.ReplaceAllString(s, "$1") }

// realMessages are the messages of the corpora, in many languages, and some made for cases that a rule may
// overlook.
func realMessages(tb testing.TB) []string {
	tb.Helper()
	messages := slices.Clone(craftedMessages)
	all, _ := statements(tb)
	for i, s := range all {
		messages = append(messages, s.message(), s.text+" "+all[(i+1)%len(all)].text)
	}
	for _, l := range languages(tb) {
		messages = append(messages, l.message(), strings.Join(l.sentences, "\n"))
	}
	texts := prose(tb)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		messages = append(messages, texts[name])
	}
	return messages
}

var craftedMessages = []string{
	"The reactor ran at -18.4 degrees. The sensor counts 10⁶ pulses in CO₂. Its driver is readPulse and not readpulse.",
	"Use `maxIdle` and `a_b_c`, never `maxidle`.\n```\nif !ok { return *p }\nx := a*b\n```\nThe **bold** claim is ~~false~~ true. Is it?",
	"> quoted by Ann: ship it today.\n> - first item stays\n> - second item goes\n1. drain the pool\n2. do not restart it\n\n# Heading of it",
	"“It's always the dot,” she said. 'No,' he answered! Was it… really? Yes. (It was.) v1.5 is out, see example.com/a?b=c.",
	"- [ ] write the tests\n- [x] ship the build\n* e.g. this one\n  + nested item -5 °C\n+3 dB gain\n>5 failures\n",
	"Dr. Smith owes 1,250.50 $ to J. R. Miller Inc. since 3.14. He paid ½ of it, i.e. №7 ™ … not more",
	"cafe\u0301 naïve ﬁle Straße STRASSE İstanbul ıslak\u200b \u00adsoft \u2066isolated\u2069. 👩‍💻 ships it 🇰🇷! ΌΧΙ; Ναι.",
	"日本語の文。「はい。」と言った！半角ﾃｽﾄ？終わり。１２３個ある。\r\n第二行です",
}

// drawQuote takes a stretch of a message, mostly whole sentences, and mostly changes it.
func drawQuote(t *rapid.T, m string) string {
	quote := rapid.SampledFrom(wholeRuns(m, true)).Draw(t, "run")
	if rapid.IntRange(0, 5).Draw(t, "cut") == 0 {
		r := []rune(m)
		from := rapid.IntRange(0, len(r)-1).Draw(t, "from")
		quote = string(r[from:rapid.IntRange(from+1, len(r)).Draw(t, "to")])
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "changes") {
		quote = drawMutation(t, m, quote)
	}
	return quote
}

// mutations are changes that models and people make to a quote.
var mutations = []func(t *rapid.T, m, quote string) string{
	func(t *rapid.T, _, q string) string { // a word is lost
		w := strings.Fields(q)
		at := rapid.IntRange(0, max(0, len(w)-1)).Draw(t, "word")
		return strings.Join(slices.Concat(w[:min(at, len(w))], w[min(at+1, len(w)):]), " ")
	},
	func(t *rapid.T, _, q string) string { // two words change places
		w := strings.Fields(q)
		if len(w) < 2 {
			return q
		}
		at := rapid.IntRange(0, len(w)-2).Draw(t, "word")
		w[at], w[at+1] = w[at+1], w[at]
		return strings.Join(w, " ")
	},
	func(t *rapid.T, _, q string) string { // a character is lost, or comes in
		r := []rune(q)
		if len(r) == 0 {
			return q
		}
		at := rapid.IntRange(0, len(r)-1).Draw(t, "character")
		if rapid.Bool().Draw(t, "insert") {
			more := rapid.SampledFrom([]rune("a0-.?!*_`~²₂'\" \n\u200b\u0301不не")).Draw(t, "more")
			return string(slices.Insert(r, at, more))
		}
		return string(slices.Delete(r, at, at+1))
	},
	func(t *rapid.T, _, q string) string { // the end is lost, or the beginning
		r := []rune(q)
		n := rapid.IntRange(0, min(12, len(r))).Draw(t, "lost")
		if rapid.Bool().Draw(t, "end") {
			return string(r[:len(r)-n])
		}
		return string(r[n:])
	},
	func(t *rapid.T, _, q string) string { // another mark at the end
		return strings.TrimRightFunc(q, unicode.IsPunct) + rapid.SampledFrom([]string{"", ".", "?", "!", "…", "...", "。", "？", "।"}).Draw(t, "mark")
	},
	func(t *rapid.T, m, q string) string { // joined with other text of the message
		return q + rapid.SampledFrom([]string{" ", " … ", "... ", "\n", ""}).Draw(t, "joint") +
			rapid.SampledFrom(wholeRuns(m, true)).Draw(t, "other")
	},
	func(_ *rapid.T, _, q string) string { return strings.ToUpper(q) },
	func(_ *rapid.T, _, q string) string { return strings.ToLower(q) },
	func(_ *rapid.T, _, q string) string { return norm.NFKC.String(q) },
	func(_ *rapid.T, _, q string) string { return norm.NFD.String(q) },
	func(_ *rapid.T, _, q string) string { return strings.Join(strings.Fields(q), " ") },
	func(_ *rapid.T, _, q string) string { return strings.ReplaceAll(q, " ", "\u00a0\n") },
	func(_ *rapid.T, _, q string) string {
		return strings.NewReplacer("*", "", "_", "", "`", "", "~", "").Replace(q)
	},
	func(_ *rapid.T, _, q string) string {
		return strings.NewReplacer("-", "", "–", "-", "—", "--", ">", "").Replace(q)
	},
	func(_ *rapid.T, _, q string) string {
		return strings.NewReplacer("“", `"`, "”", `"`, "’", "'", ",", "", "!", ".", "?", ".").Replace(q)
	},
}

func drawMutation(t *rapid.T, m, quote string) string {
	return rapid.SampledFrom(mutations).Draw(t, "mutation")(t, m, quote)
}

// requireSpan checks that the bytes and runes of a span agree and are on grapheme boundaries.
func requireSpan(t require.TestingT, text string, s schema.Span) {
	require.Equal(t, utf8.RuneCountInString(text[:s.ByteStart]), s.RuneStart)
	require.Equal(t, utf8.RuneCountInString(text[:s.ByteEnd]), s.RuneEnd)
	boundaries := map[int]bool{0: true}
	at, state := 0, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
		boundaries[at] = true
	}
	require.True(t, boundaries[s.ByteStart] && boundaries[s.ByteEnd], "%v cuts a character of %q", s, text)
}

// requireWithin checks that the passage around a quote that does not prove is whole sentences that contain it.
func requireWithin(t require.TestingT, text string, e schema.Evidence) {
	require.NotNil(t, e.Within)
	requireSpan(t, text, e.Within.Span)
	require.Contains(t, e.Within.Text, strings.TrimSpace(e.Text))
	require.Equal(t, text[e.Within.Span.ByteStart:e.Within.Span.ByteEnd], e.Within.Text)
}

// requireTrueByRule0: evidence recorded before rules had versions had no passage, claimed no proof, and stays true.
func requireTrueByRule0(t require.TestingT, text string, e schema.Evidence) {
	e.Within = nil
	require.NoError(t, evidence.Verify(text, e, 0))
	e.Proven = true
	require.ErrorIs(t, evidence.Verify(text, e, 0), evidence.ErrFalse)
}

const (
	// stops end sentences, closers may follow them, of those before and behind the boundary.
	stops   = `.?!;…\x{37e}\x{589}\x{61d}-\x{61f}\x{6d4}\x{700}-\x{702}\x{964}\x{965}\x{104a}\x{104b}\x{1362}\x{1367}\x{1368}\x{17d4}\x{17d5}\x{203c}-\x{203d}\x{2047}-\x{2049}。．！？｡`
	closers = `\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Cf}\p{M}"'*_~` + "`"
)

var (
	lineEnd     = regexp.MustCompile("\r\n|[\n\v\f\r\u0085\u2028\u2029]")
	anyBoundary = regexp.MustCompile(`[` + stops + `][` + stops + closers + `\s\p{Z}]*`)
	// certainBoundary separates two sentences beyond doubt: the first group ends behind the stop, the second begins
	// the next sentence.
	certainBoundary = regexp.MustCompile(`([.?!]) +(\p{Lu})\p{Ll}|([。？！])([\p{Han}\p{Hiragana}\p{Katakana}])|([।۔።။។]) (\p{Lo})`)
	anyMark         = regexp.MustCompile(`^(>|[-*+•–—−·・]|#{1,6}|[(（]?[\p{Nd}\p{Han}]{1,3}[.)、．）]|[(（]?\p{L}[)）])\s*`)
	certainMark     = regexp.MustCompile(`^((?:[-*+>•]|#{1,6}|\p{Nd}{1,3}[.)])\s+)\p{L}`)
)

// wholeRuns returns the runs of whole sentences and lines of a text, by a splitter of its own: those beyond doubt,
// or all that may be such.
func wholeRuns(text string, certain bool) []string {
	var starts, ends []int
	mark := anyMark
	if certain {
		mark = certainMark
	}
	at, code := 0, false
	for _, line := range splitLines(text) {
		start := at
		at += len(line)
		body := strings.TrimSpace(line)
		if body == "" {
			continue
		}
		start += strings.Index(line, body)
		starts, ends = append(starts, start), append(ends, start+len(body))
		fence := strings.HasPrefix(body, "```")
		if code || fence {
			code = code != fence
			continue
		}
		for m := mark.FindStringSubmatchIndex(body); m != nil; m = mark.FindStringSubmatchIndex(body) {
			n := m[1]
			if certain {
				n = m[3]
			}
			start, body = start+n, body[n:]
			starts = append(starts, start)
		}
		for _, boundary := range sentenceBoundaries(body, certain) {
			ends, starts = append(ends, start+boundary[0]), append(starts, start+boundary[1])
		}
	}
	slices.Sort(starts)
	slices.Sort(ends)
	var runs []string
	for _, from := range slices.Compact(starts) {
		for _, to := range slices.Compact(ends) {
			if from < to {
				runs = append(runs, text[from:to])
			}
		}
	}
	return runs
}

// sentenceBoundaries returns where in a line a sentence ends and where the next begins.
func sentenceBoundaries(line string, certain bool) (boundaries [][2]int) {
	if certain {
		for _, m := range certainBoundary.FindAllStringSubmatchIndex(line, -1) {
			for i := 2; i < len(m); i += 4 {
				if m[i] >= 0 {
					boundaries = append(boundaries, [2]int{m[i+1], m[i+2]})
				}
			}
		}
		return boundaries
	}
	for _, m := range anyBoundary.FindAllStringIndex(line, -1) {
		found := line[m[0]:m[1]]
		next, _ := utf8.DecodeRuneInString(line[m[1]:])
		spaced := strings.ContainsFunc(found, unicode.IsSpace)
		if !strings.ContainsFunc(found, func(r rune) bool { return strings.ContainsRune("?!;", r) || r > unicode.MaxASCII }) &&
			(unicode.IsLower(next) || !spaced && (unicode.IsLetter(next) || unicode.IsDigit(next))) {
			continue // a full stop inside a word or a sentence
		}
		if !spaced && found[0] <= unicode.MaxASCII && next <= unicode.MaxASCII && (unicode.IsLetter(next) || unicode.IsDigit(next)) {
			continue // another mark inside a word
		}
		for i := range found {
			_, size := utf8.DecodeRuneInString(found[i:])
			boundaries = append(boundaries, [2]int{m[0] + i + size, m[0] + i + size})
		}
	}
	return boundaries
}

// splitLines parts a text into lines, each with its end.
func splitLines(text string) []string {
	var all []string
	for _, at := range lineEnd.FindAllStringIndex(text, -1) {
		last := len(strings.Join(all, ""))
		all = append(all, text[last:at[1]])
	}
	return append(all, text[len(strings.Join(all, "")):])
}

// saysTheSame compares a run of whole sentences with a quote: the same letters, digits and symbols in the same
// order, the same mark at the end but for a full stop, and the same text where a normal form hides differences.
func saysTheSame(run, quote string) bool {
	if plain(run) != plain(quote) || !slices.Equal(asTheyStand(run), asTheyStand(quote)) {
		return false
	}
	a, b := finalMark(run), finalMark(quote)
	return a == b || a == '.' && b == 0
}

var fold = cases.Fold()

// plain returns the letters, digits and symbols of a text, and the marks between its sentences.
func plain(text string) string {
	text = strings.TrimRightFunc(fold.String(norm.NFKC.String(fold.String(norm.NFKC.String(text)))), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !unicode.IsSymbol(r)
	})
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("!?;:%&@#/\\<>=|$^+", r):
			return r
		case unicode.IsPunct(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("`~\u00b4\u0301\u0308\ufe0f", r):
			return -1
		}
		return r
	}, text)
}

// finalMark returns the mark at the end of a text, '.' for all full stops and 0 for none.
func finalMark(text string) rune {
	marks := ""
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r):
			marks = ""
		case unicode.In(r, unicode.Sentence_Terminal) || strings.ContainsRune(";…;՞", r):
			marks += string(r)
		}
	}
	marks = norm.NFKC.String(marks)
	switch {
	case strings.ContainsAny(marks, "?？؟፧՞⁇‽"):
		return '?'
	case strings.ContainsAny(marks, "!！"):
		return '!'
	case strings.Contains(marks, ".."):
		return '…'
	case strings.Contains(marks, ";"):
		return ';'
	case marks != "":
		return '.'
	}
	return 0
}

var (
	raisedRune = regexp.MustCompile(`[\x{b2}\x{b3}\x{b9}\x{2070}-\x{209c}\x{bc}-\x{be}]`)
	signed     = regexp.MustCompile(`(?:^|[\s(\[=:])([-+−–<>≤≥±~])\s?\p{Nd}`)
	codeSpan   = regexp.MustCompile("`[^`]+`")
)

// asTheyStand lists the parts of a text that no normal form may hide: raised and lowered characters, signs before
// numbers, the case of words with digits or capitals inside, and code.
func asTheyStand(text string) []string {
	found := raisedRune.FindAllString(text, -1)
	text = strings.Join(strings.Fields(strings.Map(visible, text)), " ")
	for _, sign := range signed.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.NewReplacer("−", "-", "–", "-").Replace(sign[1]))
	}
	for _, word := range strings.Fields(norm.NFKC.String(text)) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
		inner := strings.IndexFunc(word, unicode.IsDigit) >= 0
		if _, size := utf8.DecodeRuneInString(word); size > 0 {
			inner = inner || strings.IndexFunc(word[size:], unicode.IsUpper) >= 0
		}
		if inner {
			found = append(found, strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) || unicode.IsNumber(r) {
					return r
				}
				return -1
			}, word))
		}
	}
	for _, code := range codeSpan.FindAllString(text, -1) {
		found = append(found, strings.Join(strings.Fields(strings.Trim(code, "`")), " "))
	}
	return found
}

func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}
