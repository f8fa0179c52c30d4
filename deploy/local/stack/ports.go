package stack

import (
	"fmt"
	"net"
)

const loopback = "127.0.0.1"

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
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", loopback, port))
		if err != nil {
			if l, err = net.Listen("tcp", loopback+":0"); err != nil {
				return nil, fmt.Errorf("find a free port: %w", err)
			}
		}
		held = append(held, l)
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
