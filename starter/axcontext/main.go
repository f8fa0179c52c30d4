// Axcontext is the hook that an agent calls when a session starts or a prompt is entered: it answers with what is remembered.
// It does what axhook does too; that starts faster, because it knows no database.
package main

import (
	"context"
	"os"

	"axiommind/starter/hook"
	"axiommind/starter/hook/answer"
	_ "axiommind/starter/hook/short" // before all that is slow
)

func main() {
	p := hook.Program{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Getenv: os.Getenv, Answer: answer.Remembered}
	os.Exit(p.Main(context.Background(), "axcontext", os.Args[1:]))
}
