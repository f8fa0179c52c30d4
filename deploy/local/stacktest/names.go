package stacktest

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"axiommind/schema"
)

// seedVariable repeats the random choices of tests. It is rapid's: one variable repeats those of properties, too.
const seedVariable = "RAPID_SEED"

var seed = sync.OnceValue(func() uint64 {
	n, err := strconv.ParseUint(os.Getenv(seedVariable), 0, 64)
	if n == 0 || err != nil {
		n = uint64(time.Now().UnixNano()) //nolint:gosec // a seed
	}
	return n
})

// Random returns a source of randomness for the test. The variable that repeats it is logged.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	t.Logf("%s=%d repeats the random choices", seedVariable, seed())
	return rand.New(rand.NewChaCha8(sha256.Sum256([]byte(fmt.Sprint(seed(), t.Name())))))
}

// Draw returns n of the numbers from 0 up to all, in random order. If n is all, they are all there, in ascending order.
func Draw(t testing.TB, n, all int) []int {
	t.Helper()
	out := Random(t).Perm(all)[:n]
	if n == all {
		slices.Sort(out)
	}
	return out
}

// Names returns names of owners that are easily confused: by beginnings, case, spaces and normal forms, by separators and
// quotes of names, and by wildcards of patterns. Some are random, from a seed that is logged. They are all different, and
// none is empty. It also returns the source of the seed.
func Names(t testing.TB) ([]string, *rand.Rand) {
	t.Helper()
	names := []string{
		"ann", "an", "Ann", "ann ", "ann/", "ann/b", "ann%2Fb", "ann%", "_nn", "a*", "ann' OR '1'='1", `ann\`, `"ann"`, "?", "{ann:String}",
		"r\u00e9ne", "re\u0301ne", "한", "\u1112\u1161\u11ab", strings.Repeat("ann", 60), strings.Repeat("ann", 60) + "x",
	}
	random := Random(t)
	for range 4 {
		names = append(names, Alike(random, names))
	}
	return names, random
}

// AllNames is the n with which [Some] returns all names.
const AllNames = math.MaxInt

// Some returns the first of the names, with which the others are easily confused, and n of the others at random.
func Some(names []string, random *rand.Rand, n int) []string {
	out := []string{names[0]}
	for _, i := range random.Perm(len(names) - 1)[:min(n, len(names)-1)] {
		out = append(out, names[i+1])
	}
	return out
}

// Owners returns scopes of which each differs from the first in one name alone: in the project, in the user or in the
// agent, which the first one does not have.
func Owners(names []string) []schema.Scope {
	first := schema.Scope{Project: names[0], User: names[0]}
	out := []schema.Scope{first}
	for _, name := range names[1:] {
		project, user, agent := first, first, first
		project.Project, user.User, agent.Agent = name, name, name
		out = append(out, project, user, agent)
	}
	return out
}

// Alike returns a name that differs from one of the names in one or two characters, and from all of them.
func Alike(random *rand.Rand, names []string) string {
	marks := []rune("aA /%_*\"'`\\{}|:?#&=.-é한😀e\u0301")
	for {
		name := []rune(names[random.IntN(len(names))])
		for range 1 + random.IntN(2) {
			at := random.IntN(len(name) + 1)
			switch mark := marks[random.IntN(len(marks))]; {
			case at == len(name) || random.IntN(2) == 0:
				name = slices.Insert(name, at, mark)
			default:
				name[at] = mark
			}
		}
		if s := string(name); !slices.Contains(names, s) {
			return s
		}
	}
}
