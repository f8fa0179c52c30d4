// Starter is AxiomMind's command line.
package main

import (
	"os"

	"axiommind/starter/command/program"
)

func main() { os.Exit(program.Run()) }
