package stack

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"time"

	"axiommind/deploy/local/chdb/guard"
)

// uiProxy checks the host of each request before it passes it on to Temporal's web interface. The interface
// itself answers to any host. A web page could point a name of its own at this machine (DNS rebinding), and read
// histories and start workflows at a well-known port.
type uiProxy struct {
	listener net.Listener
	server   *http.Server
	// codec decrypts for the interface; nil if nothing is encrypted.
	codec http.Handler
}

// CodecPath is where the proxy decrypts for the interface. Below UnlockPath it gives a browser the right to it.
// No page of the interface has such a path.
const (
	CodecPath  = "/axiommind-codec"
	UnlockPath = "/axiommind-unlock/"
)

// newUIProxy listens on the wanted port, or on another when that is taken.
func newUIProxy(wanted int, codec func(origins []string) http.Handler) (*uiProxy, error) {
	l, err := listen(wanted)
	if err != nil {
		if l, err = listen(0); err != nil {
			return nil, err
		}
	}
	p := &uiProxy{listener: l}
	if codec != nil {
		p.codec = codec([]string{p.url()})
	}
	return p, nil
}

// arguments returns the arguments with which Temporal is started, so that the interface asks the proxy.
func (p *uiProxy) arguments() []string {
	if p.codec == nil {
		return nil
	}
	return []string{"--ui-codec-endpoint", p.url() + CodecPath}
}

func (p *uiProxy) url() string { return "http://" + p.listener.Addr().String() }

// serve passes requests on to the interface at an address.
func (p *uiProxy) serve(address string) {
	target := &url.URL{Scheme: "http", Host: address}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "Temporal's web interface does not answer; it may be starting", http.StatusBadGateway)
		},
	}
	p.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unlocks := p.codec != nil && strings.HasPrefix(r.URL.Path, UnlockPath)
		refused := guard.Browser(r)
		switch {
		case p.codec != nil && path.Dir(r.URL.Path) == CodecPath, unlocks && refused == nil:
			p.codec.ServeHTTP(w, r) // It checks the page that asks.
			return
		case refused != nil:
			http.Error(w, refused.Reason, refused.Status)
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = p.server.Serve(p.listener) }()
}

func (p *uiProxy) close() error {
	if p.server == nil {
		return p.listener.Close()
	}
	return p.server.Close()
}
