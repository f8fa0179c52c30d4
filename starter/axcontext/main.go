// Axcontext is the hook that an agent calls when a session starts or the user enters a prompt: it answers with memories. It
// also does everything that axhook does. Axhook starts faster, because it links no database client.
package main

import (
	"context"
	"os"

	"axiommind/starter/hook"
	"axiommind/starter/hook/answer"
	_ "axiommind/starter/hook/short" // before all slow imports
)

func main() {
	p := hook.Program{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Getenv: os.Getenv, Answer: answer.Remembered}
	os.Exit(p.Main(context.Background(), "axcontext", os.Args[1:]))
}
