package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// isTerminal reports whether a person is at the input.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// ask asks for the word, and returns an error if another one is typed.
func ask(in io.Reader, out io.Writer, question, word string) error {
	_, _ = io.WriteString(out, question)
	if f, ok := out.(interface{ Flush() error }); ok {
		_ = f.Flush()
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && line == "" {
		_, _ = fmt.Fprintln(out)
	}
	if strings.TrimSpace(line) != strings.TrimSpace(word) {
		return usagef("nothing was changed")
	}
	return nil
}
