package fact

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	language "axiommind/activities/text"
)

// Counter counts the tokens in a text.
type Counter interface {
	Count(text string) int
}

// CounterFunc adapts a function to a [Counter].
type CounterFunc func(text string) int

// Count implements [Counter].
func (f CounterFunc) Count(text string) int { return f(text) }

// Char4 counts one token per four characters, rounded down. It undercounts Chinese, Japanese and Korean.
var Char4 Counter = CounterFunc(func(text string) int { return utf8.RuneCountInString(text) / 4 })

// CJK2 counts by [language.EstimateTokens].
var CJK2 Counter = CounterFunc(language.EstimateTokens)

// longRun is the number of characters from which on a run of letters, of signs or of white space is counted in pieces.
const longRun = 512

// CL100K returns a counter that counts as cl100k_base does, with a vocabulary in the program. It counts the names of
// special tokens as ordinary text. The first call of CL100K takes about 0.2 s.
//
// The time that cl100k_base takes grows with the square of the longest run of letters: 1.6 s for 20,000 letters without a
// space. So runs of over [longRun] characters, which no language has, are counted in pieces.
func CL100K() (Counter, error) {
	if _, err := cl100k(); err != nil {
		return nil, fmt.Errorf("load cl100k_base: %w", err)
	}
	return countedLines, nil
}

// lineCounter counts lines and caches the counts: a search for the number of lines that fit counts the same ones again.
type lineCounter struct {
	mu    sync.Mutex
	known map[string]int
}

// maxKnownLines and maxKnownLine limit the cache of counts.
const (
	maxKnownLines = 4096
	maxKnownLine  = 4 << 10
)

var countedLines = &lineCounter{known: map[string]int{}}

// Count implements [Counter]. The counts of lines add up: in cl100k_base no token goes on behind a line break that no white
// space follows.
func (c *lineCounter) Count(text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for line := range wholeLines(text) {
		count, ok := c.known[line]
		if !ok {
			count = countTokens(line)
			if len(c.known) >= maxKnownLines {
				clear(c.known)
			}
			if len(line) <= maxKnownLine {
				c.known[strings.Clone(line)] = count
			}
		}
		n += count
	}
	return n
}

func countTokens(text string) int {
	encoding, err := cl100k()
	if err != nil {
		return 0 // CL100K has returned the error.
	}
	n := 0
	for piece := range shortRuns(text) {
		n += len(encoding.EncodeOrdinary(piece))
	}
	return n
}

// wholeLines yields the lines of the text with their breaks. A line that begins with white space belongs to the one before.
func wholeLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 1; i < len(text); i++ {
			if text[i-1] != '\n' {
				continue
			}
			if r, _ := utf8.DecodeRuneInString(text[i:]); unicode.IsSpace(r) {
				continue
			}
			if !yield(text[start:i]) {
				return
			}
			start = i
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// shortRuns yields the text in pieces that have no run of more than longRun characters of a kind, in one piece if it can.
func shortRuns(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, length, last := 0, 0, 0
		for i, r := range text {
			kind := 1
			switch {
			case unicode.IsLetter(r):
				kind = 2
			case unicode.IsSpace(r):
				kind = 3
			}
			if kind != last {
				last, length = kind, 0
			}
			if length++; length > longRun {
				if !yield(text[start:i]) {
					return
				}
				start, length = i, 1
			}
		}
		yield(text[start:])
	}
}

var cl100k = sync.OnceValues(func() (*tiktoken.Tiktoken, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	return tiktoken.GetEncoding(tiktoken.MODEL_CL100K_BASE)
})
