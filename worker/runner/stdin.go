package runner

import (
	"sync"

	"axiommind/schema"
	"axiommind/worker/statedir"
)

// stdinCopies removes the copies of standard input once the builds that have read them have ended. The copy of a failed
// build stays for a retry. Such copies, and those of a killed worker, are removed when they are old.
type stdinCopies struct {
	dir statedir.Dir
	mu  sync.Mutex
	// read are the URIs of copies, by the builds that have read them.
	read map[string]string
}

func (c *stdinCopies) ingested(buildID, uri string) {
	if c.dir.IsStdin(uri) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.read[buildID] = uri
	}
}

func (c *stdinCopies) ended(buildID string, status schema.BuildStatus) {
	c.mu.Lock()
	uri := c.read[buildID]
	delete(c.read, buildID)
	c.mu.Unlock()
	if status != schema.BuildFailed {
		c.dir.DropStdin(uri)
	}
}
