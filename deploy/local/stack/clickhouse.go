package stack

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
)

// ClickHousePort is the port ClickHouse's HTTP interface listens on when it is
// free.
const ClickHousePort = 8123

func (s *Stack) startClickHouse(ctx context.Context) error {
	if path, found := s.installed("clickhouse-server"); found {
		return s.launchClickHouse(ctx, s.installedClickHouse(path))
	}
	if path, found := s.installed("clickhouse"); found {
		return s.launchClickHouse(ctx, s.installedClickHouse(path, "server"))
	}
	library, err := s.cache.Library(ctx, s.opts.Progress)
	if err != nil {
		return err
	}
	server, err := s.cache.ClickHouseServer(ctx, s.opts.Progress)
	if err != nil {
		return err
	}
	return s.launchClickHouse(ctx, func(port int) (command, error) {
		args := []string{"--library", library, "--dir", filepath.Join(s.opts.Dir, "clickhouse"),
			"--listen", hostPort(port), "--watch-stdin"}
		if s.opts.Ephemeral {
			args = append(args, "--ephemeral")
		}
		return command{path: server, args: args, env: []string{"TZ=UTC"}, watchesStdin: true}, nil
	})
}

func (s *Stack) launchClickHouse(ctx context.Context, commandFor func(port int) (command, error)) error {
	return s.launch(ctx, "clickhouse", []int{s.opts.ClickHousePort}, func(ports []int) (launch, error) {
		c, err := commandFor(ports[0])
		if err != nil {
			return launch{}, err
		}
		c.name, c.log = "clickhouse", s.logFile("clickhouse")
		address := hostPort(ports[0])
		return launch{
			command: c,
			check:   func(ctx context.Context) error { return getOK(ctx, "http://"+address+"/ping") },
			apply: func(a *Addresses) string {
				a.ClickHouseDSN = "http://" + address + "/default"
				return "on " + address
			},
		}, nil
	})
}

// installedClickHouse runs a server package's binary. Its data is kept apart
// from that of the pinned engine, which may be of another version.
func (s *Stack) installedClickHouse(path string, args ...string) func(port int) (command, error) {
	return func(port int) (command, error) {
		dir := filepath.Join(s.opts.Dir, "clickhouse-server")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return command{}, fmt.Errorf("make clickhouse's directory: %w", err)
		}
		config := filepath.Join(dir, "config.xml")
		if err := os.WriteFile(config, clickHouseConfig(dir, port), 0o644); err != nil {
			return command{}, fmt.Errorf("write clickhouse's configuration: %w", err)
		}
		return command{path: path, args: append(args, "--config-file="+config)}, nil
	}
}

func clickHouseConfig(dir string, port int) []byte {
	var escaped bytes.Buffer
	_ = xml.EscapeText(&escaped, []byte(dir))
	return fmt.Appendf(nil, `<clickhouse>
	<logger><level>warning</level><console>1</console></logger>
	<listen_host>%s</listen_host>
	<http_port>%d</http_port>
	<path>%[3]s/data/</path>
	<tmp_path>%[3]s/tmp/</tmp_path>
	<timezone>UTC</timezone>
	<mark_cache_size>268435456</mark_cache_size>
	<profiles><default/></profiles>
	<quotas><default/></quotas>
	<users><default>
		<password></password>
		<networks><ip>%[1]s</ip></networks>
		<profile>default</profile>
		<quota>default</quota>
	</default></users>
</clickhouse>
`, loopback, port, escaped.String())
}
