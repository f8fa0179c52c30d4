package chdb

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"axiommind/deploy/local/chdb/guard"
)

// refusal is an answer to a request that is not served.
type refusal struct {
	status int
	reason *Exception
}

// guardBrowser refuses requests that a web page can make a browser send.
func guardBrowser(r *http.Request) *refusal {
	if refused := guard.Browser(r); refused != nil {
		return &refusal{refused.Status, denied(refused.Reason)}
	}
	return nil
}

func denied(reason string) *Exception {
	return newException(codeAuthFailed, "AUTHENTICATION_FAILED", "%s", reason)
}

// guardToken refuses a request without the token, which is the password of HTTP's basic authentication or the
// value of ClickHouse's own header.
func guardToken(r *http.Request, token string) *refusal {
	given := r.Header.Get("X-ClickHouse-Key")
	if _, password, ok := r.BasicAuth(); ok {
		given = password
	}
	if given == "" {
		return &refusal{http.StatusUnauthorized, newException(codeRequiredPassword, "REQUIRED_PASSWORD",
			"The local server wants the token made at its start as the password; the stack's directory holds it")}
	}
	// Both are hashed, so that the time of the comparison does not reveal the length.
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return &refusal{http.StatusForbidden, denied("The password is not the token made at the server's start")}
	}
	return nil
}
