package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"axiommind/deploy/local/child"
)

// process is a server started by the stack. It ends with the stack's process,
// however that one dies.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.Closer
	log   string
	done  chan struct{}
	err   error
	once  sync.Once
}

// command describes a server to start.
type command struct {
	name string
	path string
	args []string
	env  []string
	// log is the file the server's output goes to.
	log string
	// watchesStdin says that the server ends by itself when its standard input
	// is closed; any other is killed from outside.
	watchesStdin bool
}

func start(c command) (*process, error) {
	if err := os.MkdirAll(filepath.Dir(c.log), 0o755); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	defer func() { _ = log.Close() }()
	path, args, launch := c.path, c.args, child.StartGraceful
	if !c.watchesStdin {
		path, args = child.Supervised(path, args)
		launch = child.Start
	}
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = log, log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	if err := launch(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	p := &process{name: c.name, cmd: cmd, stdin: stdin, log: c.log, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// failure explains why a process ended, with the end of its log.
func (p *process) failure() error {
	text, _ := os.ReadFile(p.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	tail := strings.Join(lines[max(0, len(lines)-5):], "\n  ")
	reason := p.err
	if reason == nil {
		reason = errors.New("exit status 0")
	}
	return fmt.Errorf("run %s: ended with %w; the last lines of %s:\n  %s", p.name, reason, p.log, tail)
}

// readyTimeout is how long a started server may take to answer.
const readyTimeout = 2 * time.Minute

// ready polls check until it succeeds, the process ends or ctx does.
func (p *process) ready(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := check(attempt)
		cancel()
		if err == nil {
			// What answers may be another server on a port this one did not get.
			select {
			case <-p.done:
				return p.failure()
			default:
				return nil
			}
		}
		select {
		case <-p.done:
			return p.failure()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w: %w", p.name, ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// stopTimeout is how long a server may take to end before it is killed.
const stopTimeout = 10 * time.Second

func (p *process) stop() {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(stopTimeout):
			_ = p.cmd.Process.Kill()
			<-p.done
		}
		_ = p.stdin.Close()
	})
}
