package idris

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/graduate/obligation"
)

// standIn writes a shell script in place of the compiler. It checks nothing: these tests cover the handling of the
// process, and TestCompiler covers the real compiler.
func standIn(t *testing.T, script string) *Checker {
	path := filepath.Join(t.TempDir(), "idris2")
	script = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Idris 2, version 9.9'; exit 0; fi\n" + script
	// A process that another test starts meanwhile would inherit the open file, and a file that is open for writing
	// can't be executed.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	return &Checker{Path: path}
}

// refusing is a script that reports an error like the compiler at each line that matches a pattern, up to the given
// number. It refuses the control module for its id.
func refusing(pattern string, most int) string {
	return `pattern='` + pattern + `'
if grep -q 'the String "control"' "$2"; then pattern='identified E0'; fi
name=$(basename "$2" .idr)
lines=$(grep -nE "$pattern" "$2" | cut -d: -f1 | head -` + strconv.Itoa(most) + `)
for line in $lines; do
printf 'Error: While processing right hand side. When unifying:\n    So True\nand:\n    So False\nMismatch between: True and False.\n\n%s:%s:3--%s:9\n %s | x\n\n' $name $line $line $line
done
[ -z "$lines" ]`
}

// accepting refuses only the control module.
var accepting = refusing("nothing of the kind", 9)

func check(t *testing.T, c *Checker, m Module) Result {
	r, err := c.Check(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, m.Hash, r.ModuleHash)
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "axiommind-idris-*", m.Name+".idr"))
	require.NoError(t, err)
	require.Empty(t, left, "the directory is removed; no other test has a module of the name")
	return r
}

// named returns a valid entry with the id.
func named(t require.TestingT, id string) obligation.Facts {
	f := sample(t)
	f.EntryID = id
	f.Entry[obligation.EntryID] = obligation.Literal{Text: id}
	return f
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	r := check(t, &Checker{Path: filepath.Join(t.TempDir(), "idris2")}, NewModule(nil))
	require.Equal(t, Unavailable, r.Status)
	require.Contains(t, r.Reason, "idris2")
}

func TestStandIns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, reason string
		status         Status
	}{
		"it accepts all":               {"exit 0", "accepts false obligations", Broken},
		"it refuses what is false":     {accepting, "", Passed},
		"it fails without a word":      {"exit 3", "without saying where: exit status 3", Broken},
		"it fails with garbage":        {"head -c 5000 /dev/urandom; exit 1", "without saying where", Broken},
		"it names another module":      {"echo 'Error: no'; echo; echo 'Other:3:1--3:4'; exit 1", "line 3 of Other", Broken},
		"it refuses the header":        {`echo 'Error: no'; echo "$(basename $2 .idr):3:1--3:4"; exit 1`, "line 3 of Session", Broken},
		"it names a line far off":      {`echo 'Error: no'; echo "$(basename $2 .idr):99999:1--3:4"; exit 1`, "line 99999", Broken},
		"it says no place":             {"echo 'Error: out of memory'; exit 1", "out of memory", Broken},
		"it ends well, with an error":  {"echo 'Error: Module name does not match.'", "does not match", Broken},
		"it warns":                     {"echo 'Warning: odd'; echo; echo \"$(basename $2 .idr):200:1--200:4\"; " + accepting, "", Passed},
		"it kills itself":              {"kill -9 $$", "signal: killed", Broken},
		"it says where, but not which": {`echo 'Error: no'; echo "$(basename $2 .idr):$(grep -n '^E0 = ' "$2" | cut -d: -f1):1--1:2"; exit 1`, "which obligations", Broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := check(t, standIn(t, c.script), NewModule([]obligation.Facts{named(t, name), named(t, "another")}))
			require.Equal(t, c.status, r.Status, r.Reason)
			require.Contains(t, r.Reason, c.reason)
			require.Equal(t, "Idris 2, version 9.9", r.Version)
			require.Empty(t, r.Failures)
		})
	}
}

// Refused entries are removed, and all others pass.
func TestOthersPass(t *testing.T) {
	t.Parallel()
	m := NewModule([]obligation.Facts{named(t, "one"), named(t, "two"), named(t, "three")})
	// The values of the second entry are refused too, which adds no failure.
	r := check(t, standIn(t, refusing(`"two".*\[E1S0, E1S1\]|\(runes E1S0\)|\(claimed E2\)`, 9)), m)
	require.Equal(t, Failed, r.Status, r.Reason)
	require.Len(t, r.Failures, 2)
	require.Equal(t, obligation.Failure{
		EntryID: "two", Obligation: "runes", Piece: 0,
		Reason: "Error: While processing right hand side. When unifying: So True and: So False Mismatch between: True and False.",
	}, r.Failures[0])
	require.Equal(t, [3]any{"three", "claimed", -1}, [3]any{r.Failures[1].EntryID, r.Failures[1].Obligation, r.Failures[1].Piece})
}

// A compiler that stops at the first error is tried a few times and then given up.
func TestRounds(t *testing.T) {
	t.Parallel()
	checked := func(n int) Result {
		facts := []obligation.Facts{named(t, "good")}
		for range n {
			facts = append(facts, named(t, "bad"))
		}
		return check(t, standIn(t, refusing(`the String "bad"`, 1)), NewModule(facts))
	}
	r := checked(2)
	require.Equal(t, Failed, r.Status, r.Reason)
	require.Len(t, r.Failures, 2)
	require.Equal(t, "bad", r.Failures[1].EntryID)
	require.Empty(t, r.Failures[1].Obligation, "it is refused for its values")
	r = checked(maxRounds + 1)
	require.Equal(t, Broken, r.Status)
	require.Contains(t, r.Reason, "rounds")
	require.Empty(t, r.Failures)
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := standIn(t, "echo $$ > "+dir+"/pid; sleep 600 & echo $! > "+dir+"/child; wait")
	c.Timeout = 500 * time.Millisecond
	start := time.Now()
	r := check(t, c, NewModule([]obligation.Facts{named(t, "one")}))
	require.Equal(t, TimedOut, r.Status)
	require.Contains(t, r.Reason, "500ms")
	require.Less(t, time.Since(start), 30*time.Second)
	for _, file := range []string{"pid", "child"} {
		pid, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
			return err != nil || strings.Contains(string(state), ") Z ")
		}, 10*time.Second, 10*time.Millisecond, file)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Check(ctx, NewModule(nil))
	require.ErrorIs(t, err, context.Canceled)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := standIn(t, "ulimit -v > "+dir+"/memory; ulimit -t > "+dir+"/time; ls -ld . > "+dir+"/mode; "+accepting)
	c.Memory = 1 << 30
	c.Timeout = 90 * time.Second
	require.Equal(t, Passed, check(t, c, NewModule(nil)).Status)
	for file, want := range map[string]string{"memory": "1048576", "time": "91", "mode": "drwx------"} {
		got, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Contains(t, string(got), want)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		out  string
		want []compileError
	}{
		"today's": {
			"1/1: Building S (S.idr)\nError: While processing right hand side of e0_titled. When unifying:\n    So True\nand:\n    So (titled E0)\n" +
				"Mismatch between: True and False.\n\nS:12:9--12:11\n 11 | e\n 12 | f\n\n",
			[]compileError{{"S", 12, "Error: While processing right hand side of e0_titled. When unifying: So True and: So (titled E0) Mismatch between: True and False."}},
		},
		"older":            {"Error: no\nS.idr:12:9--12:11:\n", []compileError{{"S", 12, "Error: no"}}},
		"in color":         {"\x1b[1;31mError:\x1b[0m no\n\n\x1b[34mS:12:9--12:11\x1b[0m\n", []compileError{{"S", 12, "Error: no"}}},
		"without a place":  {"Error: no\nError: yes\nS:1:1--1:2\n", []compileError{{"", 0, "Error: no"}, {"S", 1, "Error: yes"}}},
		"a warning":        {"Warning: no\n\nS:12:9--12:11\n", nil},
		"a place in text":  {"Error: no\n  S:1:1--1:2\n 3 | S:4:1--4:2\nS:5:1--5:2", []compileError{{"S", 5, "Error: no S:1:1--1:2 3 | S:4:1--4:2"}}},
		"a place alone":    {"S:1:1--1:2\n", nil},
		"a long line":      {"Error: " + strings.Repeat("x", 5000) + "\nS:1:1--1:2\n", []compileError{{"S", 1, "Error: " + strings.Repeat("x", maxLine-7)}}},
		"controls":         {"Error: \x1b]0;\x07\nS:1:1--1:2\n", []compileError{{"S", 1, "Error: <U+001B>]0;<U+0007>"}}},
		"a number too big": {"Error: no\nS:99999999999:1--1:2\n", []compileError{{"", 0, "Error: no S:99999999999:1--1:2"}}},
	} {
		var r reader
		for i := 0; i < len(c.out); i += 7 {
			_, err := r.Write([]byte(c.out[i:min(i+7, len(c.out))]))
			require.NoError(t, err)
		}
		require.Equal(t, c.want, r.answer().errors, name)
	}
}

// The parsed output is bounded, and does not depend on how the output is split.
func FuzzOutput(f *testing.F) {
	f.Add("Error: no\n\nS:12:9--12:11\n", 3)
	f.Add("Warning: \x1b[0m\nError:\r\n\nS:1:1--1:2", 1)
	f.Fuzz(func(t *testing.T, out string, cut int) {
		var whole, pieces reader
		_, err := whole.Write([]byte(out))
		require.NoError(t, err)
		cut = max(0, min(cut, len(out)))
		for _, piece := range []string{out[:cut], out[cut:]} {
			_, err := pieces.Write([]byte(piece))
			require.NoError(t, err)
		}
		got := whole.answer()
		require.Equal(t, got, pieces.answer())
		for _, e := range got.errors {
			require.LessOrEqual(t, len([]rune(e.message)), maxLine+1)
			require.NotContains(t, e.message, "\x1b")
		}
	})
}

// TestCompiler compares the real compiler with both other verifiers.
func TestCompiler(t *testing.T) {
	t.Parallel()
	c := &Checker{}
	if check(t, c, NewModule(nil)).Status == Unavailable {
		t.Skip("idris2 is not installed: modules are checked by the fragment's checker alone")
	}
	for name, f := range violations(t) {
		f.EntryID = name
		m := NewModule([]obligation.Facts{named(t, "before"), f, named(t, "after")})
		r := check(t, c, m)
		require.Equal(t, Failed, r.Status, "%s: %s", name, r.Reason)
		obligation, _, _ := strings.Cut(name, " ")
		var refused []string
		for _, failure := range r.Failures {
			require.Equal(t, name, failure.EntryID)
			refused = append(refused, failure.Obligation)
		}
		require.Contains(t, refused, obligation)
	}
	facts := make([]obligation.Facts, 1000)
	for i := range facts {
		facts[i] = named(t, "entry "+strconv.Itoa(i))
	}
	start := time.Now()
	require.Equal(t, Passed, check(t, c, NewModule(facts)).Status)
	t.Logf("idris2 checked 1,000 entries in %s", time.Since(start).Round(time.Millisecond))
}
