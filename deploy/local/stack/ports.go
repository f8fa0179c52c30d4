package stack

import (
	"context"
	"fmt"
	"net"
)

const loopback = "127.0.0.1"

func listen(port int) (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", hostPort(port))
}

// freePorts returns n different ports: the preferred ones where they are free,
// others where not. A preferred 0 means any.
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
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
