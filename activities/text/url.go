package text

import (
	"net/url"
	"path"
	"sort"
	"strings"

	"golang.org/x/net/idna"
)

// URL returns the one form of an http or https address: https, lower-case host without
// www, user, default port or final dot, a resolved path without a final slash, no fragment but a
// route, and query parameters in order without those that only track.
func URL(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return "", false
	}
	scheme := strings.ToLower(u.Scheme)
	if scheme != "http" && scheme != "https" {
		return "", false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	host = strings.TrimPrefix(host, "www.")
	if host == "" {
		return "", false
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	if port != "" && (scheme != "http" || port != "80") && (scheme != "https" || port != "443") {
		host += ":" + port
	}
	out := url.URL{Scheme: "https", Host: host, Path: cleanPath(u.Path), RawQuery: cleanQuery(u.Query())}
	if strings.HasPrefix(u.Fragment, "/") || strings.HasPrefix(u.Fragment, "!") {
		out.Fragment = strings.TrimSuffix(u.Fragment, "/")
	}
	return out.String(), true
}

func cleanPath(p string) string {
	if p = path.Clean("/" + p); p == "/" {
		return ""
	}
	return p
}

func cleanQuery(query url.Values) string {
	for name := range query {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "utm_") || lower == "gclid" || lower == "fbclid" || lower == "mc_cid" || lower == "mc_eid" {
			query.Del(name)
		}
	}
	for _, values := range query {
		sort.Strings(values)
	}
	return query.Encode() // Encode sorts by name.
}
