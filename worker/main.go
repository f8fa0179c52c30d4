// Worker runs AxiomMind's workflows and activities against Temporal, ClickHouse and Weaviate.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"axiommind/worker/service"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var cfg service.Config
	flags := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	cfg.Flags(flags)
	cfg.WorkerFlags(flags)
	version := flags.Bool("version", false, "print which build this is")
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return service.FlagError(err)
	}
	if *version {
		_, err := fmt.Println("worker", service.Version())
		return err
	}
	if err := cfg.Load(flags, os.Getenv, service.LocalConfigFile()); err != nil {
		return err
	}
	logger, err := service.NewLogger(cfg)
	if err != nil {
		return err
	}
	return service.Run(ctx, cfg, logger, nil)
}
