package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// The builds go in this order where several wait for their turn. The weights are their CPU seconds from an empty cache.
const (
	weaviateWeight = 170
	programsWeight = 160
	temporalWeight = 150
	serverWeight   = 30
)

// Programs builds the worker and the starter of this module into a directory. Go's own cache knows which of their
// packages have changed.
func (c Cache) Programs(ctx context.Context, dir string, progress Progress) error {
	root, err := moduleRoot()
	if err != nil {
		return fmt.Errorf("build worker and starter: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("build worker and starter: %w", err)
	}
	const name = "programs"
	progress.report(name, "building worker and starter")
	b := build{dir: root, out: dir + string(filepath.Separator), pkgs: []string{"./worker", "./starter"}, weight: programsWeight, progress: c.meter(name)}
	if err := b.run(ctx); err != nil {
		return fmt.Errorf("build worker and starter: %w", err)
	}
	progress.report(name, "ready in "+dir)
	return nil
}

// compiler lets one build after another compile. Side by side they would compile the packages that they share several
// times, and no faster: one build keeps all cores busy until its end.
var compiler turns

// turns are given to waiting builds, the heaviest first.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting []turn
}

type turn struct {
	weight int
	begin  chan struct{}
}

// enter waits for the turn of a build. Leaving ends it, and does nothing the second time.
func (t *turns) enter(ctx context.Context, weight int) (leave func(), err error) {
	end := sync.OnceFunc(t.next)
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return end, nil
	}
	begin := make(chan struct{})
	t.waiting = append(t.waiting, turn{weight, begin})
	t.mu.Unlock()
	select {
	case <-begin:
		return end, nil
	case <-ctx.Done():
		go func() { // Its turn comes all the same.
			<-begin
			end()
		}()
		return nil, ctx.Err()
	}
}

// next begins the turn of the heaviest that waits.
func (t *turns) next() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	heaviest := 0
	for i, w := range t.waiting {
		if w.weight > t.waiting[heaviest].weight {
			heaviest = i
		}
	}
	close(t.waiting[heaviest].begin)
	t.waiting = append(t.waiting[:heaviest], t.waiting[heaviest+1:]...)
}
