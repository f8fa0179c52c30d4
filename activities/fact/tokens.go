package fact

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
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

// CJK2 counts one token per two Chinese characters, kana or Hangul syllables, and one per four other characters, each
// rounded down.
var CJK2 Counter = CounterFunc(func(text string) int {
	cjk, others := 0, 0
	for _, r := range text {
		switch {
		case r >= 0x4E00 && r <= 0x9FFF, r >= 0x3040 && r <= 0x30FF, r >= 0xAC00 && r <= 0xD7A3:
			cjk++
		default:
			others++
		}
	}
	return others/4 + cjk/2
})

// CL100K returns a counter that counts exactly as cl100k_base does, with a vocabulary in the program. It counts the
// names of special tokens as ordinary text. The first call of CL100K takes about 0.2 s. The time to count grows with
// the square of the longest run of letters: 1.6 s for 20,000 letters without a space or punctuation.
func CL100K() (Counter, error) {
	encoding, err := cl100k()
	if err != nil {
		return nil, fmt.Errorf("load cl100k_base: %w", err)
	}
	return CounterFunc(func(text string) int { return len(encoding.EncodeOrdinary(text)) }), nil
}

var cl100k = sync.OnceValues(func() (*tiktoken.Tiktoken, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	return tiktoken.GetEncoding(tiktoken.MODEL_CL100K_BASE)
})
