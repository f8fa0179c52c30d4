package stack

import (
	"cmp"
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
	// logFrom is where its own lines begin in the log.
	logFrom int64
	// patience is how long it may take to end before it is killed.
	patience time.Duration
	started  time.Time
	done     chan struct{}
	err      error
	once     sync.Once
}

// command describes a server to start.
type command struct {
	name string
	path string
	args []string
	env  []string
	// log is the file of the server's output.
	log string
	// watchesStdin is true if the server ends by itself when its standard input is closed; any other is killed from
	// outside.
	watchesStdin bool
	// appendLog keeps the lines of an earlier process in the log.
	appendLog bool
	// program is true for a program of the product: it has the whole environment, and ends before the servers.
	program bool
	// patience is how long it may take to end before it is killed. Default: stopTimeout.
	patience time.Duration
}

// inherited are the environment variables that servers get. Others may hold keys that servers must not see. Those of
// Go's runtime bound the memory of a server.
var inherited = []string{"PATH", "HOME", "USER", "TMPDIR", "LANG", "LC_ALL", "TZ", "GOGC", "GOMEMLIMIT"}

func serverEnv(more []string) []string {
	var env []string
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

func start(c command) (*process, error) {
	if err := os.MkdirAll(filepath.Dir(c.log), 0o700); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if c.appendLog {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	log, err := os.OpenFile(c.log, mode, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	defer func() { _ = log.Close() }()
	info, err := log.Stat()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	path, args, launch := c.path, c.args, child.StartGraceful
	if !c.watchesStdin {
		path, args = child.Supervised(path, args)
		launch = child.Start
	}
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.Env = serverEnv(c.env)
	if c.program {
		cmd.Env = append(os.Environ(), c.env...)
	}
	cmd.Stdout, cmd.Stderr = log, log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	if err := launch(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	p := &process{name: c.name, cmd: cmd, stdin: stdin, log: c.log, logFrom: info.Size(), patience: cmp.Or(c.patience, stopTimeout), started: time.Now(), done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// endedProcess represents a process that could not be started.
func endedProcess(c command, err error) *process {
	p := &process{name: c.name, log: c.log, started: time.Now(), done: make(chan struct{}), err: err}
	close(p.done)
	return p
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// failure reports how a process ended and, if its log shows it, why. The log of a process that was killed from
// outside does not show it.
func (p *process) failure() error {
	reason := p.err
	if reason == nil {
		reason = errors.New("exit status 0")
	}
	if line := explanation(p.output()); line != "" && !p.killed() {
		return fmt.Errorf("run %s: ended with %w: %s (its log is %s)", p.name, reason, line, p.log)
	}
	return fmt.Errorf("run %s: ended with %w (its log is %s)", p.name, reason, p.log)
}

// portTaken reports whether the process ended because a port of its own was taken, by its log.
func (p *process) portTaken() bool {
	return p.ended() && strings.Contains(p.output(), "address already in use")
}

// killed reports whether another process ended this one.
func (p *process) killed() bool {
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM)
}

// output returns the output of the process in its log, at most maxLog bytes of it.
func (p *process) output() string {
	f, err := os.Open(p.log)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.NewSectionReader(f, p.logFrom, maxLog))
	return string(text)
}

// maxLog bounds how much of a log is read for the reason of an end.
const maxLog = 64 << 20

// readyTimeout is how long a started server may take to answer.
const readyTimeout = 2 * time.Minute

// ready polls check until it succeeds, the process ends or ctx does.
func (p *process) ready(ctx context.Context, check func(context.Context, *process) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := check(attempt, p)
		cancel()
		if err == nil {
			// Another server may have answered, on a port that this one did not get.
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
	if p.cmd == nil {
		return
	}
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(p.patience):
			_ = p.cmd.Process.Kill()
			<-p.done
		}
		_ = p.stdin.Close()
	})
}
