package stack

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// dsn is an address of ClickHouse as clickhouse-go takes it, as far as a check needs it.
type dsn struct {
	hosts                    []string
	user, password, database string
	native, tls, anyone      bool
}

var errDSN = errors.New("want an address like http://user:password@host:8123/database; write / and # in a password as %2F and %23")

// parseDSN reads an address. Its errors repeat nothing of it, because it contains a password.
func parseDSN(text string) (dsn, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Fragment != "" {
		return dsn{}, errDSN
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return dsn{}, errDSN
	}
	password, _ := u.User.Password()
	d := dsn{
		hosts: strings.Split(u.Host, ","), user: cmp.Or(q.Get("username"), u.User.Username(), "default"),
		password: cmp.Or(q.Get("password"), password), database: cmp.Or(q.Get("database"), strings.TrimPrefix(u.Path, "/")),
		tls: u.Scheme == "https" || q.Get("secure") == "true" || q.Get("secure") == "1", anyone: q.Get("skip_verify") == "true" || q.Get("skip_verify") == "1",
	}
	switch u.Scheme {
	case "http", "https":
	case "clickhouse", "tcp", "native":
		d.native = true
	default:
		return dsn{}, errDSN
	}
	return d, nil
}

// ClickHouseURL is ClickHouse's address without user, password and settings, for people. It is "" when
// the DSN can't be read.
func (a Addresses) ClickHouseURL() string {
	d, err := parseDSN(a.ClickHouseDSN)
	if err != nil {
		return ""
	}
	u := url.URL{Scheme: "http", Host: strings.Join(d.hosts, ","), Path: "/" + d.database}
	if d.tls {
		u.Scheme = "https"
	}
	if strings.Contains(u.Path, "@") {
		u.Path = "/" // The text before the @ is the rest of a password with a slash in it.
	}
	return u.String()
}

// checkClickHouse sends a request that needs the DSN's user and password: another stack's server may have the port.
func checkClickHouse(ctx context.Context, text string) error {
	d, err := parseDSN(text)
	if err != nil {
		return err
	}
	check := d.checkHTTP
	if d.native {
		check = d.checkNative
	}
	for _, host := range d.hosts {
		if err = check(ctx, host); err == nil {
			return nil
		}
	}
	return err
}

func (d dsn) config(host string) *tls.Config {
	name, _, _ := net.SplitHostPort(host)
	return &tls.Config{ServerName: name, InsecureSkipVerify: d.anyone} //nolint:gosec // As the person who gave the address wants it.
}

func (d dsn) checkHTTP(ctx context.Context, host string) error {
	u := url.URL{Scheme: "http", Host: host, Path: "/", RawQuery: url.Values{"query": {"SELECT 1"}}.Encode()}
	if d.tls {
		u.Scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return errDSN
	}
	req.SetBasicAuth(d.user, d.password)
	if d.database != "" {
		req.Header.Set("X-ClickHouse-Database", d.database)
	}
	transport := &http.Transport{TLSClientConfig: d.config(host)}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return fmt.Errorf("reach clickhouse at %s: %w", host, errors.Unwrap(err))
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", host, err)
	}
	if resp.StatusCode != http.StatusOK || strings.TrimSpace(string(answer)) != "1" {
		return fmt.Errorf("%s answers with status %s: %s", host, resp.Status, d.hide(string(answer)))
	}
	return nil
}

// maxAnswer bounds how much of an answer is read, in bytes.
const maxAnswer = 1 << 10

// hide returns the first line of an answer without the password, should a server repeat it.
func (d dsn) hide(answer string) string {
	answer, _, _ = strings.Cut(strings.TrimSpace(answer), "\n")
	if d.password != "" {
		answer = strings.ReplaceAll(answer, d.password, "***")
	}
	return answer
}

// The first bytes of packets in ClickHouse's own protocol.
const (
	packetHello     = 0
	packetException = 2
)

// nativeTimeout is how long a server may take to answer a greeting in its own protocol.
const nativeTimeout = 5 * time.Second

// checkNative greets the server in ClickHouse's own protocol. The server answers in kind if it accepts the user and
// password.
func (d dsn) checkNative(ctx context.Context, host string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return fmt.Errorf("reach clickhouse at %s: %w", host, err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(nativeTimeout))
	if d.tls {
		conn = tls.Client(conn, d.config(host))
	}
	hello := []byte{packetHello}
	text := func(s string) { hello = append(binary.AppendUvarint(hello, uint64(len(s))), s...) }
	text("axiommind")
	for _, version := range []uint64{1, 0, 54058} {
		hello = binary.AppendUvarint(hello, version)
	}
	text(cmp.Or(d.database, "default"))
	text(d.user)
	text(d.password)
	if _, err := conn.Write(hello); err != nil {
		return fmt.Errorf("greet %s: %w", host, err)
	}
	kind := make([]byte, 1)
	if _, err := io.ReadFull(conn, kind); err != nil {
		return fmt.Errorf("greet %s: %w", host, err)
	}
	switch kind[0] {
	case packetHello:
		return nil
	case packetException:
		return fmt.Errorf("%s refuses the user and password", host)
	default:
		return fmt.Errorf("%s does not speak ClickHouse's own protocol: is its port that of the HTTP interface?", host)
	}
}
