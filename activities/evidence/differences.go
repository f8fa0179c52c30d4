package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"axiommind/activities/evidence/normal"
	language "axiommind/activities/text"
)

// Difference is a place where a quote differs from the text found for it.
type Difference struct {
	// Quote is the text of the quote, empty for words that it leaves out.
	Quote string `json:"quote"`
	// Source is the text of the source, empty for words that only the quote has.
	Source string `json:"source"`
}

// maxEdits is the number of omitted and added words at which [Differences] gives up distinguishing them. A
// quote that is similar enough to be found stays below it.
const maxEdits = 1500

// Differences returns the words in which a quote differs from the text found for it, in order. Words that
// follow one another are one difference. In scripts without spaces a word is one character, as a person
// counts them. Forms that are equal when normalized are differences only when there are no others. Both
// sides of a difference are the original words, and white space between words is never one.
func Differences(quote, text string) []Difference {
	asIs := func(word string) string { return word }
	for _, form := range []func(string) string{wordForm, asIs} {
		q, t := splitWords(quote, form), splitWords(text, form)
		if found := q.differences(t); len(found) > 0 {
			return found
		}
	}
	return nil
}

// WholeWords returns the text from start to end, with the words completed that these cut. Nothing is cut in
// scripts without spaces.
func WholeWords(text string, start, end int) string {
	for cutsWord(text, start) {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	for cutsWord(text, end) {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[start:end]
}

// cutsWord reports whether a byte offset lies inside a word.
func cutsWord(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	for _, r := range []rune{before, after} {
		if !unicode.In(r, unicode.L, unicode.N, unicode.M) || language.Unspaced(r) {
			return false
		}
	}
	return true
}

// wordList is a text and its words: the place of each, and the form by which it is compared.
type wordList struct {
	text  string
	words []listedWord
}

type listedWord struct {
	start, end int
	form       string
}

// differences returns the differences of a quote from a text t.
func (l wordList) differences(t wordList) (found []Difference) {
	inL, inT := commonWords(l.words, t.words)
	for i, j := 0, 0; i < len(inL) || j < len(inT); {
		if i < len(inL) && j < len(inT) && inL[i] && inT[j] {
			i, j = i+1, j+1
			continue
		}
		fromL, fromT := i, j
		for i < len(inL) && !inL[i] {
			i++
		}
		for j < len(inT) && !inT[j] {
			j++
		}
		found = append(found, Difference{Quote: l.stretch(fromL, i), Source: t.stretch(fromT, j)})
	}
	return found
}

// stretch returns the text of the words from i to j.
func (l wordList) stretch(i, j int) string {
	if i == j {
		return ""
	}
	return l.text[l.words[i].start:l.words[j-1].end]
}

// wordForm is the normal form of a word. Two or three dashes between words are one.
func wordForm(word string) string {
	form := normal.Form1(word)
	if form != "" && strings.Trim(form, "-") == "" {
		return "-"
	}
	return form
}

// splitWords splits a text into words and the punctuation around them. Signs stay with their numbers, and
// marks inside a word with the word. A piece without a form is left out.
func splitWords(text string, form func(string) string) wordList {
	list := wordList{text: text}
	add := func(start, end int) {
		if f := form(text[start:end]); f != "" {
			list.words = append(list.words, listedWord{start, end, f})
		}
	}
	start, at, vowel := -1, 0, false
	flush := func() {
		if start >= 0 {
			splitEdges(text, start, at, add)
		}
		start, vowel = -1, false
	}
	cluster, rest, state := "", text, -1
	for rest != "" {
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		r, _ := utf8.DecodeRuneInString(cluster)
		switch {
		case strings.TrimSpace(cluster) == "":
			flush()
		case unicode.IsSpace(r): // A mark on a space is seen, and begins a word.
			flush()
			start = at
		case unicode.Is(unicode.Logical_Order_Exception, r): // A vowel of Thai or Lao, written before its consonant.
			flush()
			start, vowel = at, true
		case language.Unspaced(r):
			from := at
			if vowel {
				from, start = start, -1
			}
			flush()
			add(from, at+len(cluster))
		case start < 0:
			start = at
		}
		at += len(cluster)
	}
	flush()
	return list
}

// splitEdges adds the parts of the text between two spaces: the punctuation before the word, the word, and the
// punctuation behind it, mark by mark. Dots that follow one another are one mark.
func splitEdges(text string, start, end int, add func(start, end int)) {
	for start < end {
		r, size := utf8.DecodeRuneInString(text[start:end])
		if !unicode.In(r, unicode.Ps, unicode.Pi, unicode.Pf) && !strings.ContainsRune("\"'`¿¡", r) {
			break
		}
		add(start, start+size)
		start += size
	}
	last := end
	var marks []int // where each mark behind the word begins, the last one first
	for last > start {
		r, size := utf8.DecodeLastRuneInString(text[start:last])
		if !unicode.In(r, unicode.Pe, unicode.Pi, unicode.Pf, unicode.Terminal_Punctuation) && !strings.ContainsRune("\"'`…", r) {
			break
		}
		if r == '.' {
			size = last - start - len(strings.TrimRight(text[start:last], "."))
		}
		last -= size
		marks = append(marks, last)
	}
	if start < last {
		add(start, last)
	}
	slices.Reverse(marks)
	for i, mark := range marks {
		next := end
		if i+1 < len(marks) {
			next = marks[i+1]
		}
		add(mark, next)
	}
}

// commonWords reports which words of a and b are in a longest common subsequence, by Myers' O(ND) algorithm.
// Where they are further apart than maxEdits, only their common beginning and end are.
func commonWords(a, b []listedWord) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	match := func(i, j int) { inA[i], inB[j] = true, true }
	first := 0
	for first < len(a) && first < len(b) && a[first].form == b[first].form {
		match(first, first)
		first++
	}
	n, m := len(a), len(b)
	for n > first && m > first && a[n-1].form == b[m-1].form {
		n, m = n-1, m-1
		match(n, m)
	}
	a, b = a[first:n], b[first:m]
	furthest, ok := wordEdits(a, b)
	if !ok {
		return inA, inB
	}
	x, y := len(a), len(b)
	for d := len(furthest); d >= 0; d-- {
		fromX, fromY := 0, 0
		if d > 0 {
			// The path comes from a neighbouring diagonal by one omitted or added word.
			before, k := furthest[d-1], x-y
			at := func(k int) int { return int(before[k+d-1]) }
			if k == -d || k != d && at(k-1) < at(k+1) {
				fromX, k = at(k+1), k+1
			} else {
				fromX, k = at(k-1), k-1
			}
			fromY = fromX - k
		}
		for x > fromX && y > fromY {
			x, y = x-1, y-1
			match(first+x, first+y)
		}
		x, y = fromX, fromY
	}
	return inA, inB
}

// wordEdits returns, for each number d of omitted and added words that is too small to lead from a to b, how
// far in a it leads on each diagonal from -d to d.
func wordEdits(a, b []listedWord) (furthest [][]int32, ok bool) {
	limit := min(len(a)+len(b), maxEdits)
	reach := make([]int32, 2*limit+3)
	middle := limit + 1
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := int(reach[middle+k-1]) + 1
			if k == -d || k != d && reach[middle+k-1] < reach[middle+k+1] {
				x = int(reach[middle+k+1])
			}
			for x < len(a) && x-k < len(b) && a[x].form == b[x-k].form {
				x++
			}
			reach[middle+k] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				return furthest, true
			}
		}
		furthest = append(furthest, slices.Clone(reach[middle-d:middle+d+1]))
	}
	return nil, false
}
