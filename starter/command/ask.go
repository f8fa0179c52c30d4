package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// IsTerminal reports whether the input is a terminal.
func IsTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Ask asks for the word and returns an error if another one is typed.
func Ask(in io.Reader, out io.Writer, question, word string) error {
	_, err := AskFor(in, out, question, word)
	return err
}

// AskFor asks for one of the words. It returns the word that was typed, or an error if that is none of them.
func AskFor(in io.Reader, out io.Writer, question string, words ...string) (string, error) {
	_, _ = io.WriteString(out, question)
	if f, ok := out.(interface{ Flush() error }); ok {
		_ = f.Flush()
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && line == "" {
		_, _ = fmt.Fprintln(out)
	}
	for _, word := range words {
		if strings.TrimSpace(line) == strings.TrimSpace(word) {
			return word, nil
		}
	}
	return "", Usagef("nothing was changed")
}
