// Package guard refuses requests that a web page can make a browser send to a server on this machine.
package guard

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Refusal is the reason why a request is not served, and the status.
type Refusal struct {
	Status int
	Reason string
}

// Browser refuses a request whose Host is not this machine, as after DNS rebinding, and one that a page of another
// origin makes. It returns nil for any other.
func Browser(r *http.Request) *Refusal {
	if !loopbackHost(r.Host) {
		return &Refusal{http.StatusMisdirectedRequest, fmt.Sprintf("The host %q is not this machine's loopback address", r.Host)}
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
		return &Refusal{http.StatusForbidden, fmt.Sprintf("Requests of the web page %q are refused", origin)}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return nil
	default:
		return &Refusal{http.StatusForbidden, fmt.Sprintf("Requests of other web pages (%q) are refused", site)}
	}
}

// loopbackHost reports whether a Host header names the loopback address, at whatever port: a proxy
// may stand in front.
func loopbackHost(hostPort string) bool {
	u := url.URL{Host: hostPort}
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host != "" && strings.EqualFold(u.Host, host)
}
