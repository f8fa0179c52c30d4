package idris

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"axiommind/activities/graduate/obligation"
)

// Status is the outcome of a check.
type Status string

// Statuses of a check.
const (
	// Passed: the compiler accepted the module.
	Passed Status = "passed"
	// Failed: the compiler refused the entries that Failures lists, and accepted a module of all others.
	Failed Status = "failed"
	// Unavailable: there is no compiler.
	Unavailable Status = "unavailable"
	// TimedOut and Broken: there is no answer about any entry. The compiler was stopped, failed for a reason other than
	// the module's obligations, or accepts false obligations.
	TimedOut Status = "timed_out"
	Broken   Status = "broken"
)

// Defaults of a Checker.
const (
	DefaultTimeout = 2 * time.Minute
	DefaultMemory  = 4 << 30
	// DefaultCommand is the name of the compiler on the PATH.
	DefaultCommand = "idris2"
)

// maxRounds is how often refused entries are removed from a module and the rest is checked again. The compiler reports
// all false obligations at once, so the second round is usually the last.
const maxRounds = 4

// Checker checks modules with the Idris 2 compiler. It is safe for concurrent use.
type Checker struct {
	// Path is the compiler's file. The default is DefaultCommand on the PATH.
	Path string
	// Timeout limits one check with all its rounds. The default is DefaultTimeout.
	Timeout time.Duration
	// Memory limits the address space of the compiler in bytes, on systems that can. The default is DefaultMemory.
	Memory int64

	mu sync.Mutex
	// trusted has the compilers, by path and version, that have refused the control module.
	trusted map[string]bool
}

// Result is the result of checking a module.
type Result struct {
	Status Status
	// Version is the version line that the compiler printed, or empty.
	Version string
	// ModuleHash is the hash of the whole module.
	ModuleHash string
	// Failures are in the order of the module. They are empty unless the status is Failed. Their Obligation is empty if
	// the compiler refused the values of an entry.
	Failures []obligation.Failure
	// Reason is the reason why there is no answer.
	Reason string
}

// Check checks a module with the compiler. An entry passes only as part of a module that the compiler has accepted as a
// whole: its messages only show which entries to remove. Check returns an error if the context ends or the module can't
// be written.
func (c *Checker) Check(ctx context.Context, m Module) (Result, error) {
	result := Result{Status: Unavailable, ModuleHash: m.Hash}
	path, err := exec.LookPath(cmp.Or(c.Path, DefaultCommand))
	if err != nil {
		result.Reason = err.Error()
		return result, nil
	}
	if path, err = filepath.Abs(path); err != nil {
		return result, fmt.Errorf("find compiler %q: %w", path, err)
	}
	p := process{path: path, memory: cmp.Or(c.Memory, DefaultMemory), timeout: cmp.Or(c.Timeout, DefaultTimeout)}
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	err = c.check(limited, p, m, &result)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	case limited.Err() != nil:
		result.Status, result.Failures = TimedOut, nil
		result.Reason = fmt.Sprintf("compiler was stopped after %s", p.timeout)
		return result, nil
	case errors.As(err, new(brokenError)):
		result.Status, result.Failures, result.Reason = Broken, nil, err.Error()
		return result, nil
	default:
		return result, err
	}
}

// brokenError describes output or behavior of a compiler that is no valid answer.
type brokenError string

func (e brokenError) Error() string { return string(e) }

func (c *Checker) check(ctx context.Context, p process, m Module, result *Result) error {
	version, err := p.version(ctx)
	if err != nil {
		return err
	}
	result.Version = version
	if err := c.trust(ctx, p, version); err != nil {
		return err
	}
	failures := map[string][]obligation.Failure{}
	rest := m
	for round := 0; rest.Len() > 0; round++ {
		a, err := p.check(ctx, rest)
		if err != nil {
			return err
		}
		if a.accepted {
			break
		}
		failed, err := rest.failures(a)
		if err != nil {
			return err
		}
		if round == maxRounds {
			return brokenError(fmt.Sprintf("compiler still refuses entries after %d rounds", maxRounds))
		}
		out := make(map[int]bool, len(failed))
		for i, f := range failed {
			out[i] = true
			failures[f[0].EntryID] = append(failures[f[0].EntryID], f...)
		}
		rest = rest.without(out)
	}
	result.Status = Passed
	if len(failures) > 0 {
		result.Status = Failed
	}
	for _, f := range m.entries {
		result.Failures = append(result.Failures, failures[f.EntryID]...)
		delete(failures, f.EntryID)
	}
	return nil
}

// trust checks that a compiler refuses a false obligation and reports its line: a program that accepts everything
// proves nothing.
func (c *Checker) trust(ctx context.Context, p process, version string) error {
	key := p.path + "\x00" + version
	c.mu.Lock()
	trusted := c.trusted[key]
	c.mu.Unlock()
	if trusted {
		return nil
	}
	m := NewModule([]obligation.Facts{{Entry: obligation.Record{obligation.Title: {Text: "control"}}}})
	a, err := p.check(ctx, m)
	if err != nil {
		return err
	}
	if a.accepted {
		return brokenError("compiler accepts false obligations")
	}
	failed, err := m.failures(a)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(failed[0], func(f obligation.Failure) bool { return f.Obligation == "identified" }) {
		return brokenError("compiler does not say which obligations are false: " + a.summary())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trusted == nil {
		c.trusted = map[string]bool{}
	}
	c.trusted[key] = true
	return nil
}

// failures returns the failures that the compiler reported, by the index of the entry.
func (m Module) failures(a answer) (map[int][]obligation.Failure, error) {
	failed := map[int][]obligation.Failure{}
	for _, e := range a.errors {
		if e.module != m.Name || e.line < 1 || e.line > len(m.lines) || m.lines[e.line-1].entry < 0 {
			return nil, brokenError("compiler refuses the module: " + e.String())
		}
		of := m.lines[e.line-1]
		f := obligation.Failure{EntryID: m.entries[of.entry].EntryID, Obligation: of.obligation, Piece: of.piece, Reason: e.message}
		same := func(g obligation.Failure) bool { return g.Obligation == f.Obligation && g.Piece == f.Piece }
		if !slices.ContainsFunc(failed[of.entry], same) {
			failed[of.entry] = append(failed[of.entry], f)
		}
	}
	for i, of := range failed {
		// Lines that depend on a false obligation may fail with it.
		named := func(f obligation.Failure) bool { return f.Obligation != "" }
		if slices.ContainsFunc(of, named) {
			failed[i] = slices.DeleteFunc(of, func(f obligation.Failure) bool { return !named(f) })
		}
	}
	if len(failed) == 0 {
		return nil, brokenError("compiler fails without saying where: " + a.summary())
	}
	return failed, nil
}

// process has the path and the limits of the compiler.
type process struct {
	path    string
	memory  int64
	timeout time.Duration
}

// version returns the first line of the compiler's version output.
func (p process) version(ctx context.Context) (string, error) {
	a, err := p.run(ctx, os.TempDir(), "--version")
	if err != nil {
		return "", err
	}
	line := strings.TrimSpace(a.first)
	if a.failed != "" || line == "" {
		return "", brokenError("compiler does not tell its version: " + a.summary())
	}
	return line, nil
}

// check writes a module to a directory that only this user can read, and runs the compiler on it.
func (p process) check(ctx context.Context, m Module) (_ answer, err error) {
	dir, err := os.MkdirTemp("", "axiommind-idris-")
	if err != nil {
		return answer{}, fmt.Errorf("make directory for module %q: %w", m.Name, err)
	}
	defer func() {
		if e := os.RemoveAll(dir); e != nil && err == nil {
			err = fmt.Errorf("remove directory of module %q: %w", m.Name, e)
		}
	}()
	file := m.Name + ".idr"
	if err := os.WriteFile(filepath.Join(dir, file), []byte(m.Text), 0o600); err != nil {
		return answer{}, fmt.Errorf("write module %q: %w", m.Name, err)
	}
	return p.run(ctx, dir, "--check", file)
}
