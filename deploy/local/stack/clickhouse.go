package stack

import (
	"context"
	"path/filepath"
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
	return s.launch(ctx, "clickhouse", func() (launch, error) {
		ports, err := freePorts(s.opts.ClickHousePort)
		if err != nil {
			return launch{}, err
		}
		address := hostPort(ports[0])
		args := []string{"--library", library, "--dir", filepath.Join(s.opts.Dir, "clickhouse"),
			"--listen", address, "--watch-stdin"}
		if s.opts.Ephemeral {
			args = append(args, "--ephemeral")
		}
		return launch{
			command: command{name: "clickhouse", path: server, args: args, env: []string{"TZ=UTC"},
				log: s.logFile("clickhouse"), watchesStdin: true},
			check: func(ctx context.Context) error { return getOK(ctx, "http://"+address+"/ping") },
			apply: func(a *Addresses) string {
				a.ClickHouseDSN = "http://" + address + "/default"
				return "on " + address
			},
		}, nil
	})
}
