package main_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// faulty is a proxy between the worker and a server that injects the faults of networks and servers.
type faulty struct {
	target   string
	address  string
	listener net.Listener

	mu    sync.Mutex
	mode  faultMode
	conns map[net.Conn]bool
	wait  sync.WaitGroup
}

type faultMode string

const (
	faultNone faultMode = ""
	// faultSlow delays every piece of an answer.
	faultSlow faultMode = "slow"
	// faultRefusing ends every connection at once.
	faultRefusing faultMode = "refusing"
	// faultGarbage answers with bytes of no protocol.
	faultGarbage faultMode = "garbage"
	// faultGone takes connections and never answers.
	faultGone faultMode = "gone"
)

const slowness = 300 * time.Millisecond

func newFaulty(t *testing.T, target string) *faulty {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &faulty{target: target, address: listener.Addr().String(), listener: listener, conns: map[net.Conn]bool{}}
	f.wait.Go(f.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		f.set(faultRefusing)
		f.wait.Wait()
	})
	return f
}

// set changes the fault of connections, and ends those that are open.
func (f *faulty) set(mode faultMode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mode = mode
	for conn := range f.conns {
		_ = conn.Close()
	}
}

func (f *faulty) accept() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.conns[conn] = true
		mode := f.mode
		f.mu.Unlock()
		f.wait.Go(func() {
			f.serve(conn, mode)
			_ = conn.Close()
			f.mu.Lock()
			delete(f.conns, conn)
			f.mu.Unlock()
		})
	}
}

func (f *faulty) serve(conn net.Conn, mode faultMode) {
	switch mode {
	case faultRefusing:
		return
	case faultGone:
		_, _ = io.Copy(io.Discard, conn)
		return
	case faultGarbage:
		_, _ = conn.Read(make([]byte, 1))
		_, _ = io.WriteString(conn, strings.Repeat("\x00\xff{]garbage'\r\n", 100))
		return
	}
	server, err := net.Dial("tcp", f.target)
	if err != nil {
		return
	}
	f.mu.Lock()
	f.conns[server] = true
	f.mu.Unlock()
	var wait sync.WaitGroup
	wait.Go(func() {
		_, _ = io.Copy(server, conn)
		_ = server.Close()
	})
	wait.Go(func() {
		_, _ = io.Copy(delayed{conn, mode}, server)
		_ = conn.Close()
	})
	wait.Wait()
	f.mu.Lock()
	delete(f.conns, server)
	f.mu.Unlock()
}

// delayed writes late while the server is slow.
type delayed struct {
	io.Writer
	mode faultMode
}

func (d delayed) Write(p []byte) (int, error) {
	if d.mode == faultSlow {
		time.Sleep(slowness)
	}
	return d.Writer.Write(p)
}
