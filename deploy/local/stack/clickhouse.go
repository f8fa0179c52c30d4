package stack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"axiommind/deploy/local/chdb/rights"
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
		for _, grant := range s.opts.ClickHouseGrants {
			args = append(args, "--grant", grant)
		}
		if s.opts.ClickHouseCluster != "" {
			args = append(args, "--cluster", s.opts.ClickHouseCluster)
		}
		return command{path: server, args: args, env: []string{"TZ=UTC", "AXIOMMIND_CHDB_TOKEN=" + s.secret}, watchesStdin: true}, nil
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
		dsn := url.URL{Scheme: "http", User: url.UserPassword(rights.User, s.secret), Host: address, Path: "/default"}
		return launch{
			command: c,
			check:   func(ctx context.Context) error { return checkClickHouse(ctx, dsn.String()) },
			apply: func(a *Addresses) string {
				a.ClickHouseDSN = dsn.String()
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
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return command{}, fmt.Errorf("make clickhouse's directory: %w", err)
		}
		config, users := filepath.Join(dir, "config.xml"), filepath.Join(dir, "users.xml")
		err := errors.Join(WritePrivate(config, clickHouseConfig(dir, users, port)),
			WritePrivate(users, rights.UsersXML(s.secret, loopback, nil, s.opts.ClickHouseGrants...)))
		if err != nil {
			return command{}, fmt.Errorf("write clickhouse's configuration: %w", err)
		}
		return command{path: path, args: append(args, "--config-file="+config)}, nil
	}
}

// clickHouseConfig is the configuration of an installed server. It reaches no other host.
func clickHouseConfig(dir, users string, port int) []byte {
	return fmt.Appendf(nil, `<clickhouse>
	<logger><level>warning</level><console>1</console></logger>
	<listen_host>%s</listen_host>
	<http_port>%d</http_port>
	<path>%[3]s/data/</path>
	<tmp_path>%[3]s/tmp/</tmp_path>
	<user_files_path>%[3]s/files/</user_files_path>
	<timezone>UTC</timezone>
	<mark_cache_size>268435456</mark_cache_size>
	<remote_url_allow_hosts/>
	<user_directories><users_xml><path>%[4]s</path></users_xml></user_directories>
</clickhouse>
`, loopback, port, rights.Escape(dir), rights.Escape(users))
}
