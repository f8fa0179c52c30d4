package stack

import (
	"context"
	"fmt"
	"time"
)

// Program is a program that uses the servers and runs next to them.
type Program struct {
	Name, Path string
	Args       []string
	// Env comes on top of the environment of this process.
	Env []string
	// Says is a part of its log that shows that it is ready.
	Says string
	// Patience is how long it may take to end before it is killed. Default: that of servers.
	Patience time.Duration
}

// Run starts a program and returns when it works. From then on it is one of the servers: [Stack.Supervise] starts it again,
// and [Stack.Stop] ends it, before the others.
func (s *Stack) Run(ctx context.Context, p Program) error {
	l := launch{says: p.Says, command: command{
		name: p.Name, path: p.Path, args: p.Args, env: p.Env, log: s.logFile(p.Name), appendLog: true, program: true, patience: p.Patience,
	}}
	s.report(p.Name, "starting")
	started, err := start(l.command)
	if err != nil {
		return err
	}
	sv := &server{launch: l, process: started}
	s.add(sv)
	if err := started.ready(ctx, l.ready()); err != nil {
		started.stop()
		s.remove(sv)
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	s.report(p.Name, "ready")
	return nil
}
