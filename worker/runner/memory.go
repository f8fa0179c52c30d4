package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"axiommind/activities/tier"
	"axiommind/activities/tier/bucket/gcs"
	"axiommind/worker/service"
)

// memoryRoot opens the root of the memory's files.
func memoryRoot(ctx context.Context, c *service.Config) (*tier.Root, error) {
	url := c.MemoryRoot
	if url == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find the directory of the memory's files: %w: give --memory-root", err)
		}
		url = filepath.Join(home, ".axiommind", "memory")
	}
	return tier.OpenRoot(ctx, url, gcs.Open)
}

// zone returns the time zone of the days of daily records.
func zone(c *service.Config) (*time.Location, error) {
	if c.TimeZone == "" {
		return time.Local, nil
	}
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("--time-zone %q: want a name such as Europe/Berlin: %w", c.TimeZone, err)
	}
	return zone, nil
}
