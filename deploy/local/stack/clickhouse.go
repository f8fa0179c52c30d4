package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
)

// ClickHousePort is the port ClickHouse's HTTP interface listens on when it is
// free.
const ClickHousePort = 8123

func (s *Stack) startClickHouse(ctx context.Context) error {
	library, err := s.cache.Library(ctx, s.opts.Progress)
	if err != nil {
		return err
	}
	server, err := s.cache.ClickHouseServer(ctx, s.opts.Progress)
	if err != nil {
		return err
	}
	s.report("clickhouse", "starting")
	args := []string{"--library", library, "--dir", filepath.Join(s.opts.Dir, "clickhouse"), "--watch-stdin",
		"--listen", listenAddress(s.opts.ClickHousePort)}
	if s.opts.Ephemeral {
		args = append(args, "--ephemeral")
	}
	first := make(chan string, 1)
	p, err := start(command{
		name: "clickhouse", path: server, args: args, env: []string{"TZ=UTC"},
		log: s.logFile("clickhouse"), watchesStdin: true, firstLine: first,
	})
	if err != nil {
		return err
	}
	s.add(p)
	select {
	case line := <-first:
		address, ok := strings.CutPrefix(line, "ready http://")
		if !ok {
			<-p.done
			return p.failure()
		}
		address, version, _ := strings.Cut(address, " version ")
		s.addresses.ClickHouseDSN = "http://" + address + "/default"
		s.report("clickhouse", "ready, version "+version)
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for clickhouse: %w", ctx.Err())
	}
}

func getOK(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("get %q: status %s", url, resp.Status)
	}
	return nil
}
