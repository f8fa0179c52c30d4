package chdb

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// refusal is an answer to a request that is not served.
type refusal struct {
	status int
	reason *Exception
}

// guardBrowser refuses what a web page can make a browser send: a request to a name that was turned
// to this machine, or one from another page.
func guardBrowser(r *http.Request) *refusal {
	if !loopbackHost(r.Host) {
		return &refusal{http.StatusMisdirectedRequest, denied("The host %q is not this machine's loopback address", r.Host)}
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
		return &refusal{http.StatusForbidden, denied("Requests of the web page %q are refused", origin)}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return nil
	default:
		return &refusal{http.StatusForbidden, denied("Requests of other web pages (%s) are refused", site)}
	}
}

func denied(format string, args ...any) *Exception {
	return newException(codeAuthFailed, "AUTHENTICATION_FAILED", format, args...)
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

// guardToken refuses who does not know the token: as the password of HTTP's basic authentication, or
// in ClickHouse's own header.
func guardToken(r *http.Request, token string) *refusal {
	given := r.Header.Get("X-ClickHouse-Key")
	if _, password, ok := r.BasicAuth(); ok {
		given = password
	}
	if given == "" {
		return &refusal{http.StatusUnauthorized, newException(codeRequiredPassword, "REQUIRED_PASSWORD",
			"The local server wants the token made at its start as the password; the stack's directory holds it")}
	}
	// Hashed, so that the time tells nothing of the length either.
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return &refusal{http.StatusForbidden, denied("The password is not the token made at the server's start")}
	}
	return nil
}
