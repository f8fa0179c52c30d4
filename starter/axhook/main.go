// Axhook is the hook that an agent calls at the end of a turn or a session: it enqueues the transcript. It is a separate
// program because starter takes several times as long to start. It does everything that starter hook does except answer.
package main

import (
	"context"
	"os"

	"axiommind/starter/hook"
	_ "axiommind/starter/hook/short" // before all slow imports
)

func main() {
	p := hook.Program{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Getenv: os.Getenv}
	os.Exit(p.Main(context.Background(), "axhook", os.Args[1:]))
}
