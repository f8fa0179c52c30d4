// Command chdb-server serves ClickHouse's engine over ClickHouse's HTTP
// interface on a loopback address. The local stack starts it as a process of
// its own, so that the engine's memory and its end are its own too.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
	_ "time/tzdata"

	"axiommind/deploy/local/chdb"

	"github.com/spf13/pflag"
)

// The engine asks glibc for its thread's stack. For the main thread glibc reads /proc, which the confinement
// forbids. So the main goroutine keeps the main thread for itself, and only waits.
func init() { runtime.LockOSThread() }

func main() {
	syscall.Umask(0o077)
	done := make(chan error)
	go func() { done <- run(os.Args[1:]) }()
	if err := <-done; err != nil {
		fmt.Fprintln(os.Stderr, "chdb-server:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := pflag.NewFlagSet("chdb-server", pflag.ContinueOnError)
	library := flags.String("library", "", "path of the libchdb shared library")
	dir := flags.String("dir", "", "data directory")
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on")
	watch := flags.Bool("watch-stdin", false, "end when standard input is closed")
	ephemeral := flags.Bool("ephemeral", false, "empty the data directory at the end")
	grants := flags.StringArray("grant", nil, "right of the user, as GRANT SELECT ON db.*; repeat for more (default: all that stays in the directory)")
	cluster := flags.String("cluster", "", "name of a cluster of one shard, this server, for tests")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	token := os.Getenv(chdb.TokenVariable)
	if token == "" {
		return fmt.Errorf("read the token: set %s", chdb.TokenVariable)
	}
	confined, err := confine(*library, *dir)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *watch {
		ctx = untilClosed(ctx, os.Stdin)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *listen)
	if err != nil {
		return fmt.Errorf("listen on %q: %w", *listen, err)
	}
	engine, err := chdb.Open(*library, *dir, chdb.Options{Grants: *grants, Cluster: *cluster})
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := &http.Server{Handler: chdb.NewServer(engine, token, log), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if !confined {
		log.Warn("the kernel does not confine the server (no Landlock): its rights and its own checks alone keep queries in")
	}
	fmt.Printf("ready http://%s version %s\n", listener.Addr(), engine.Version)
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	if *ephemeral {
		return removeContents(*dir)
	}
	end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		// A statement still runs. Its uncommitted data is lost, as in a crash.
		return server.Close()
	}
	return engine.Close()
}

// removeContents empties a directory. Its own entry is in a directory that the server may not write.
func removeContents(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// untilClosed returns a context that ends when r is closed. The process that started this one holds the other end
// of the pipe, and so r is closed however that process dies.
func untilClosed(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel()
	}()
	return ctx
}
