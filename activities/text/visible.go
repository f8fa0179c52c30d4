package text

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer is the only path of text to a person. Its output cannot command a terminal, reorder a line or
// hide text: see [Visible]. It writes whole lines; Flush writes the rest.
type Writer struct {
	// To receives the output. Output that bypasses the Writer is for programs, or draws on a terminal.
	To io.Writer

	mu   sync.Mutex
	held []byte
}

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := bytes.LastIndexByte(p, '\n') + 1
	w.held = append(w.held, p[:end]...)
	if end > 0 {
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	w.held = append(w.held, p[end:]...)
	return len(p), nil
}

// Flush writes the text that was held back because its line has no end.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

func (w *Writer) flush() error {
	text := Visible(string(w.held))
	w.held = w.held[:0]
	_, err := io.WriteString(w.To, text)
	return err
}

// Visible escapes, as <U+202E> or <0x9B>, everything that a terminal would obey or not show: control
// characters but line feeds and tabs, bytes that are not UTF-8, and characters without a glyph of their
// own. Of the latter it keeps those that modify an adjacent character, such as the joiners inside an
// emoji.
func Visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || Hidden(r) }) < 0 {
		return s
	}
	var out strings.Builder
	var before lastRunes
	for rest := s; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if r == '\r' && strings.HasPrefix(rest, "\r\n") {
			rest = rest[n:] // The end of a line, as some systems write it.
			continue
		}
		if kept := before.shapes(rest); kept > 0 {
			n = kept
			out.WriteString(rest[:n])
		} else if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&out, "<0x%02X>", rest[0])
			r = '>'
		} else if Hidden(r) {
			fmt.Fprintf(&out, "<U+%04X>", r)
			r = '>'
		} else {
			out.WriteRune(r)
		}
		before.pass(r)
		rest = rest[n:]
	}
	return out.String()
}

const blackFlag = '\U0001f3f4'

// flags are the tags that make a region's flag of a black one.
var flags = []string{tagged("gbeng"), tagged("gbsct"), tagged("gbwls")}

func tagged(region string) string {
	var tags strings.Builder
	for _, r := range region {
		tags.WriteRune(0xe0000 + r)
	}
	return tags.String() + "\U000e007f"
}

// joining are the scripts whose letters a joiner or a non-joiner shapes.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali,
	unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// lastRunes holds two characters before a position: the last one, and the last one that is more than a
// style.
type lastRunes struct{ last, base rune }

func (p *lastRunes) pass(r rune) {
	p.last = r
	if !isStyle(r) && !(0x1f3fb <= r && r <= 0x1f3ff) { // Nor a skin tone.
		p.base = r
	}
}

func isStyle(r rune) bool { return textStyle <= r && r <= emojiStyle }

// shapes returns how many bytes of the rest only shape the character before them, and so are kept.
func (p lastRunes) shapes(rest string) int {
	r, n := utf8.DecodeRuneInString(rest)
	next, _ := utf8.DecodeRuneInString(rest[n:])
	switch {
	case r == joiner && isPictograph(p.base) && isPictograph(next),
		(r == joiner || r == nonJoiner) && unicode.In(p.last, joining...) && !Hidden(p.last),
		isStyle(r) && (isPictograph(p.last) || strings.ContainsRune("0123456789#*", p.last) || unicode.Is(unicode.Han, p.last)),
		r >= ideographStyle && r <= lastIdeographStyle && unicode.Is(unicode.Han, p.last),
		0x180b <= r && r <= 0x180f && unicode.Is(unicode.Mongolian, p.last) && !Hidden(p.last):
		return n
	case p.last == blackFlag:
		for _, tags := range flags {
			if strings.HasPrefix(rest, tags) {
				return len(tags)
			}
		}
	}
	return 0
}

// isPictograph reports whether a character is drawn as a picture or sign: one of the emoji, of which
// four count as letters and punctuation, or another symbol.
func isPictograph(r rune) bool {
	switch {
	case 0x1f000 <= r && r <= 0x1faff, r == '‼', r == '⁉', r == 'ℹ', r == '〰', r == '©', r == '®':
		return true
	}
	return r >= '™' && r != utf8.RuneError && unicode.IsSymbol(r)
}
