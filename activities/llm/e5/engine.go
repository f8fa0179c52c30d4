package e5

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of what the engine takes from the machine.
const (
	// maxThreads is the number of threads that compute. A worker has other things to do than to embed.
	maxThreads = 4
	// maxTexts and maxBytes bound what one call of the library computes. A query waits for one call at most, about a tenth
	// of a second.
	maxTexts = 16
	maxBytes = 4 << 10
	// maxText is the length from which on a text does not count, in bytes: some four windows of the model's 512 tokens,
	// whose mean is the vector. The mean of more says nothing in particular.
	maxText = 8 << 10
)

// Engine computes vectors, on one thread of its own that calls the library, and on those that the library starts. A
// query goes before the texts that wait. It is safe for concurrent use.
type Engine struct {
	lib               *library
	queries, passages chan *job
}

// job is one call of the library.
type job struct {
	ctx     context.Context
	texts   []string
	query   bool
	vectors [][]float32
	err     error
	done    chan struct{}
}

var loaded struct {
	sync.Mutex
	dir    string
	engine *Engine
}

// Load returns the engine of the wheel that is unpacked in dir: as pip leaves it. The first call of a process
// verifies the files, loads the library and checks it against vectors that are known; it takes some 60 ms. The library stays loaded: a
// process can have that of one directory only. If there is none, the error wraps [ErrNoLibrary].
func Load(dir string) (*Engine, error) {
	f, err := find(dir)
	if err != nil {
		return nil, err
	}
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.engine != nil {
		if loaded.dir != dir {
			return nil, fmt.Errorf("load the embedding library in %q: that in %q is loaded already", dir, loaded.dir)
		}
		return loaded.engine, nil
	}
	if err := verify(f, stampPath()); err != nil {
		return nil, err
	}
	lib, err := open(f, min(maxThreads, runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, err
	}
	if lib.dimensions != Dimensions {
		return nil, fmt.Errorf("load %q: vectors of %d dimensions, not %d: it holds another model", f.weights, lib.dimensions, Dimensions)
	}
	e := &Engine{lib: lib, queries: make(chan *job), passages: make(chan *job)}
	go e.run()
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("check the embedding library in %q: %w", dir, err)
	}
	loaded.dir, loaded.engine = dir, e
	return e, nil
}

// Dimensions is the length of a vector.
const Dimensions = 384

// Queries returns a vector of length 1 (L2) for each text that is asked for.
func (e *Engine) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.embed(ctx, texts, e.queries, true)
	return centered(texts, vectors, func(m meanVectors) *mean { return &m.Query }), err
}

// Passages returns a vector of length 1 (L2) for each text that is to be found.
func (e *Engine) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.embed(ctx, texts, e.passages, false)
	return centered(texts, vectors, func(m meanVectors) *mean { return &m.Passage }), err
}

// embed returns the vectors of the model itself.
func (e *Engine) embed(ctx context.Context, texts []string, to chan<- *job, query bool) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		j := &job{ctx: ctx, query: query, done: make(chan struct{})}
		for size := 0; len(j.texts) < min(maxTexts, len(texts)); {
			t := plain(texts[len(j.texts)])
			if size += len(t); size > maxBytes && len(j.texts) > 0 {
				break
			}
			j.texts = append(j.texts, t)
		}
		texts = texts[len(j.texts):]
		select {
		case to <- j:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// The library can't be stopped: wait for it, as it writes into the vectors.
		<-j.done
		if j.err != nil {
			return nil, j.err
		}
		out = append(out, j.vectors...)
	}
	return out, nil
}

// run calls the library. OpenMP keeps its threads for each thread that calls it.
func (e *Engine) run() {
	runtime.LockOSThread()
	for {
		select {
		case j := <-e.queries:
			e.compute(j)
			continue
		default:
		}
		select {
		case j := <-e.queries:
			e.compute(j)
		case j := <-e.passages:
			e.compute(j)
		}
	}
}

func (e *Engine) compute(j *job) {
	defer close(j.done)
	if j.err = j.ctx.Err(); j.err != nil {
		return
	}
	if j.vectors, j.err = e.lib.vectors(j.texts, j.query); j.err != nil {
		return
	}
	for _, v := range j.vectors {
		if !unit(v) {
			j.err = errors.New("the library returns a vector whose length is not 1")
			return
		}
	}
}

func unit(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum > 0.99 && sum < 1.01
}

// plain returns the text as the library is given it: valid UTF-8 without zero bytes, which would end it, and in the
// compatibility form (NFKC). The library makes that form itself, in a buffer that is too small for the few characters
// that become more than four times as long.
func plain(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(head(s), "\x00", " "), "\ufffd")
	return head(norm.NFKC.String(s))
}

// head returns the first maxText bytes of s, without the part of a character at their end.
func head(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > maxText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
