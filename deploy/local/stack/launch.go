package stack

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"axiommind/deploy/local/install"
)

// launch is one try to start a server on ports of its own.
type launch struct {
	command command
	// check succeeds once the server answers. If it is nil, the process writes says then.
	check func(context.Context) error
	says  string
	// apply records where the server answers, and returns that in words.
	apply func(*Addresses) string
	// caution warns of possible damage after the server died and was started again, or is empty.
	caution string
}

// ready is how to find out whether the process works.
func (l launch) ready() func(context.Context, *process) error {
	return func(ctx context.Context, p *process) error {
		if l.check != nil {
			return l.check(ctx)
		}
		if !strings.Contains(p.output(), l.says) {
			return fmt.Errorf("it has not said %q yet (its log is %s)", l.says, p.log)
		}
		return nil
	}
}

// launchTries covers a port that another process takes between its choice and
// the server's start.
const launchTries = 5

// launch starts a server on the wanted ports, 0 for any, or on others when
// those are taken.
func (s *Stack) launch(ctx context.Context, name string, wanted []int, prepare func(ports []int) (launch, error)) error {
	if slices.ContainsFunc(wanted, func(port int) bool { return port != 0 }) {
		// Two stacks that find the same port free would take each other's server
		// for their own.
		unlock, err := install.Lock(ctx, filepath.Join(s.cache.Dir, name+"-port.lock"), func() {
			s.report(name, "waiting for another stack that starts")
		})
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		defer unlock()
	}
	for try := 1; ; try++ {
		ports, err := freePorts(wanted...)
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		l, err := prepare(ports)
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		s.report(name, "starting")
		p, err := start(l.command)
		if err != nil {
			return err
		}
		sv := &server{launch: l, process: p}
		s.add(sv)
		err = p.ready(ctx, l.ready())
		if err == nil {
			s.mu.Lock()
			where := l.apply(&s.addresses)
			s.mu.Unlock()
			s.report(name, "ready "+where)
			return nil
		}
		taken := p.portTaken()
		p.stop()
		s.remove(sv)
		if try == launchTries || !taken {
			return err
		}
	}
}

// installed finds a server on PATH, when the options allow its use.
func (s *Stack) installed(name string) (string, bool) {
	if !s.opts.Installed {
		return "", false
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", false
	}
	s.report(name, "found at "+path)
	return path, true
}

// Check returns nil if every server named in the addresses answers, else an error that names the first
// that does not.
func Check(ctx context.Context, given Addresses) error {
	if given.ClickHouseDSN != "" {
		if err := checkClickHouse(ctx, given.ClickHouseDSN); err != nil {
			return fmt.Errorf("check ClickHouse: %w", err)
		}
	}
	if given.Temporal != "" {
		if err := dial(ctx, given.Temporal); err != nil {
			return fmt.Errorf("reach Temporal at %q: %w", given.Temporal, err)
		}
	}
	if given.WeaviateHost != "" {
		if err := checkWeaviate(ctx, given.WeaviateHost, given.WeaviateKey); err != nil {
			return fmt.Errorf("reach Weaviate at %q: %w", given.WeaviateHost, err)
		}
	}
	return nil
}
