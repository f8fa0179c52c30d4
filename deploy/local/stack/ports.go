package stack

import (
	"context"
	"fmt"
	"net"
	"runtime"
)

const loopback = "127.0.0.1"

func listen(port int) (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", hostPort(port))
}

// freePorts returns different ports: the preferred ones where they are free,
// others where not. A preferred 0 means any. Nothing reserves a port until a server
// listens on it, but for some seconds the system does not give it to programs that
// ask for any port.
func freePorts(preferred ...int) ([]int, error) {
	ports := make([]int, len(preferred))
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for i, port := range preferred {
		l, err := listen(port)
		if err != nil {
			if l, err = listen(0); err != nil {
				return nil, fmt.Errorf("find a free port: %w", err)
			}
		}
		held = append(held, l)
		if err := keepAside(l); err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// keepAside leaves a connection to a listener's port behind, closed from the listener's side. Until it
// expires, Linux does not choose the port for others, but still lets a server that names it listen.
func keepAside(l net.Listener) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	from, err := new(net.Dialer).DialContext(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := l.Accept()
	if err != nil {
		return err
	}
	return to.Close()
}

// FreePort returns a loopback address on which nothing listens.
func FreePort() (address string, err error) {
	ports, err := freePorts(0)
	if err != nil {
		return "", err
	}
	return hostPort(ports[0]), nil
}
