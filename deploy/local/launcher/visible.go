package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// screen is the one way of text to a person. Nothing that passes it commands a terminal, reorders a line or hides. It
// writes whole lines; flush writes the rest.
type screen struct {
	// to gets the text. Drawings, and text for programs, go there directly.
	to io.Writer

	mu   sync.Mutex
	held []byte
}

// Write implements [io.Writer].
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := bytes.LastIndexByte(p, '\n') + 1
	s.held = append(s.held, p[:end]...)
	if end > 0 {
		if err := s.writeHeld(); err != nil {
			return 0, err
		}
	}
	s.held = append(s.held, p[end:]...)
	return len(p), nil
}

func (s *screen) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeHeld()
}

func (s *screen) writeHeld() error {
	text := visible(string(s.held))
	s.held = s.held[:0]
	_, err := io.WriteString(s.to, text)
	return err
}

// visible escapes each character that a terminal obeys or does not show, as <U+202E> or <0x9B>. It is stricter than
// the writers of the other programs: it makes no exception for emoji of several characters.
func visible(s string) string {
	var out strings.Builder
	for rest := s; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\r' && strings.HasPrefix(rest, "\r\n"): // The end of a line, as some systems write it.
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, "<0x%02X>", rest[0])
		case hidden(r):
			fmt.Fprintf(&out, "<U+%04X>", r)
		default:
			out.WriteRune(r)
		}
		rest = rest[n:]
	}
	return out.String()
}

func hidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
