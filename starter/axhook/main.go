// Axhook is the hook that an agent calls when something has been said: it enqueues the transcript. It is a program of its own
// because starter takes several times as long to start. What starter hook does it does too, but for answers.
package main

import (
	"context"
	"os"

	"axiommind/starter/hook"
	_ "axiommind/starter/hook/short" // before all that is slow
)

func main() {
	p := hook.Program{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Getenv: os.Getenv}
	os.Exit(p.Main(context.Background(), "axhook", os.Args[1:]))
}
