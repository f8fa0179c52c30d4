package e5

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/text/unicode/norm"

	"axiommind/activities/llm/onnx"
)

// Limits on the use of the machine by the wheel's library.
const (
	// maxThreads is the number of threads that compute. A worker has other things to do than to embed.
	maxThreads = 4
	// maxTexts and maxBytes limit one call of the library while queries come: a query waits for one call at most,
	// about a tenth of a second. Otherwise a call computes idleFactor times as much, which is half as fast again.
	maxTexts   = 16
	maxBytes   = 4 << 10
	idleFactor = 4
	// idleAfter is the time without a query after which none is expected.
	idleAfter = 10 * time.Second
)

// Engine computes vectors: by ONNX Runtime, or where it is missing by the wheel's library, with the same vectors within [Tolerance]. A query does not wait for the texts that are computed meanwhile. It is safe for concurrent use.
type Engine struct {
	// Slow is why the wheel's library serves, which is several times as slow. It is nil if ONNX Runtime does.
	Slow error
	fast *onnx.Encoder
	// lib is called on one thread, which takes queries before passages.
	lib               *library
	queries, passages chan *job
	// asked is when the last query came, in nanoseconds.
	asked atomic.Int64
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

// Load returns the engine of the wheel that is unpacked in dir, as pip leaves it. The first call of a process verifies
// the files, loads the model and checks it against known vectors. The model stays loaded: a process can load that of
// one directory only. If there is none, the error wraps [ErrNoLibrary].
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
	e, err := loadAny(dir, f)
	if err != nil {
		return nil, err
	}
	loaded.dir, loaded.engine = dir, e
	return e, nil
}

// loadAny returns the faster engine of those that serve here.
func loadAny(dir string, f files) (*Engine, error) {
	e, slow := loadFast(dir, f)
	if slow == nil {
		return e, nil
	}
	e, err := loadSlow(f)
	if err != nil {
		return nil, err
	}
	e.Slow = slow
	return e, nil
}

func loadSlow(f files) (*Engine, error) {
	lib, err := open(f, min(maxThreads, runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, err
	}
	if lib.dimensions != Dimensions {
		return nil, fmt.Errorf("load %q: vectors of %d dimensions, not %d: it holds another model", f.weights, lib.dimensions, Dimensions)
	}
	e := &Engine{lib: lib, queries: make(chan *job), passages: make(chan *job)}
	go e.run()
	if err := e.check(sameLibrary); err != nil {
		return nil, fmt.Errorf("check the embedding library %q: %w", f.library, err)
	}
	return e, nil
}

// Dimensions is the length of a vector.
const Dimensions = 384

// Queries returns a vector of length 1 (L2) for each question.
func (e *Engine) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.embed(ctx, texts, true)
	return centered(texts, vectors, func(m meanVectors) *mean { return &m.Query }), err
}

// Passages returns a vector of length 1 (L2) for each text to search.
func (e *Engine) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.embed(ctx, texts, false)
	return centered(texts, vectors, func(m meanVectors) *mean { return &m.Passage }), err
}

// embed returns the vectors of the model itself.
func (e *Engine) embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	if e.fast != nil {
		return fastVectors(ctx, e.fast, texts, query)
	}
	to := e.passages
	if query {
		to = e.queries
		e.asked.Store(time.Now().UnixNano())
	}
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		factor := 1
		if time.Since(time.Unix(0, e.asked.Load())) > idleAfter {
			factor = idleFactor
		}
		j := &job{ctx: ctx, query: query, done: make(chan struct{})}
		for size := 0; len(j.texts) < min(factor*maxTexts, len(texts)); {
			t := plain(texts[len(j.texts)])
			if size += len(t); size > factor*maxBytes && len(j.texts) > 0 {
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
	s = strings.ToValidUTF8(strings.ReplaceAll(onnx.Head(s), "\x00", " "), "\ufffd")
	return onnx.Head(norm.NFKC.String(s))
}
