// English counts five words that give a translated sentence away, and the length of sentences, in the comments of Go and in
// Markdown. It fails above a limit, for all or for a directory or page of at least 100 lines. usage: go run .ci/english/main.go [-rooms]
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Limits: of the words in 1,000 lines, and of the words in a mean sentence.
const (
	mostWords    = 20.0
	longSentence = 20.0
)

var (
	five     = regexp.MustCompile(`(?i)\b(what|nobody|somebody|anew|beside)\b`)
	code     = regexp.MustCompile("(?s)```.*?```|`[^`]*`|<!--.*?-->|“[^”]*”|\"[^\"\n]*\"")
	sentence = regexp.MustCompile(`[.:!?](\s|$)|\n\s*\n`)
	row      = regexp.MustCompile(`(?m)^\s*\|.*$`) // A table has no sentences.
)

// count is of one room.
type count struct{ lines, found, words, sentences int }

func (c *count) add(text string) {
	c.lines += strings.Count(strings.TrimSpace(text), "\n") + 1
	text = code.ReplaceAllString(text, "x")
	c.found += len(five.FindAllString(text, -1))
	for _, s := range sentence.Split(row.ReplaceAllString(text, ""), -1) {
		if words := len(strings.Fields(s)); words > 1 {
			c.words, c.sentences = c.words+words, c.sentences+1
		}
	}
}

func (c *count) per1000() float64 { return 1000 * float64(c.found) / float64(max(c.lines, 1)) }
func (c *count) mean() float64    { return float64(c.words) / float64(max(c.sentences, 1)) }

// read counts a file for its room.
func read(path string, rooms map[string]*count) error {
	add := func(room, text string) {
		if rooms[room] == nil {
			rooms[room] = &count{}
		}
		rooms[room].add(text)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch filepath.Ext(path) {
	case ".md":
		if filepath.Base(path) != "CHANGELOG.md" {
			add(path, string(src))
		}
	case ".go":
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			if text := group.Text(); text != "" {
				add(filepath.Dir(path), text)
			}
		}
	}
	return nil
}

func main() {
	byRoom := flag.Bool("rooms", false, "print a line for each directory")
	flag.Parse()
	rooms := map[string]*count{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		return read(path, rooms)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "english:", err)
		os.Exit(1)
	}
	var all count
	names := make([]string, 0, len(rooms))
	for name, c := range rooms {
		names = append(names, name)
		all.lines, all.found, all.words, all.sentences = all.lines+c.lines, all.found+c.found, all.words+c.words, all.sentences+c.sentences
	}
	if *byRoom {
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(rooms[b].found, rooms[a].found), cmp.Compare(a, b))
		})
		for _, name := range names {
			c := rooms[name]
			fmt.Printf("%5d of the words, %5.1f in 1,000 lines, %4.1f words a sentence  %s\n", c.found, c.per1000(), c.mean(), name)
		}
	}
	fmt.Printf("%d lines of comments and documents: %.1f of the five words in 1,000, %.1f words a sentence\n", all.lines, all.per1000(), all.mean())
	bad := all.per1000() > mostWords || all.mean() > longSentence
	for _, c := range rooms {
		bad = bad || c.lines >= 100 && c.per1000() > mostWords
	}
	if bad {
		fmt.Printf("more than %.0f in 1,000 lines, here or in one room, or %.0f words a sentence; -rooms shows the places\n", mostWords, longSentence)
		os.Exit(1)
	}
}
