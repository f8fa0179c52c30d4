package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sessionTime is how long a browser stays logged in.
const sessionTime = 30 * 24 * time.Hour

// LinkTime is how long the link that logs one browser in can be used. It stays in the terminal that the server was started in.
const LinkTime = 15 * time.Minute

// login admits browsers: by a one-time code or by the server's token they get a signed cookie.
type login struct {
	secret [32]byte
	// cookie is the name of the cookie. Servers of one host on other ports have other tokens, and so other names.
	cookie string
	mu     sync.Mutex
	// code is used up by the first login with it, or when it expires.
	code    string
	expires time.Time
}

func newLogin(secret [32]byte) login {
	sum := sha256.Sum256(append([]byte("cookie "), secret[:]...))
	return login{secret: secret, cookie: "axiommind_" + hex.EncodeToString(sum[:4]), code: rand.Text(), expires: time.Now().Add(LinkTime)}
}

// entrance is the state of the page of the login.
type entrance struct{ To, Problem string }

// Minutes is how long the link of a new server can be used.
func (entrance) Minutes() int { return int(LinkTime.Minutes()) }

// Entrance returns the address by which one browser logs in without the token.
func (p *Pages) Entrance() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "/login?code=" + p.code
}

// take uses up the one-time code.
func (l *login) take(code string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.code == "" || time.Now().After(l.expires) || subtle.ConstantTimeCompare([]byte(code), []byte(l.code)) != 1 {
		return false
	}
	l.code = ""
	return true
}

func (l *login) sign(of, text string) string {
	mac := hmac.New(sha256.New, l.secret[:])
	mac.Write([]byte(of + " " + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// formToken returns the token of the forms of a browser.
func (l *login) formToken(cookie string) string { return l.sign("form", cookie) }

// newCookie returns the value of a cookie that is valid until the time.
func (l *login) newCookie(until time.Time) string {
	text := strconv.FormatInt(until.Unix(), 36) + "." + rand.Text()
	return text + "." + l.sign("session", text)
}

// Knows reports whether the request carries the cookie of a browser that is logged in.
func (p *Pages) Knows(r *http.Request) bool {
	cookie, err := r.Cookie(p.cookie)
	if err != nil {
		return false
	}
	at := strings.LastIndexByte(cookie.Value, '.')
	if at < 0 || subtle.ConstantTimeCompare([]byte(cookie.Value[at+1:]), []byte(p.sign("session", cookie.Value[:at]))) != 1 {
		return false
	}
	text, _, _ := strings.Cut(cookie.Value, ".")
	until, err := strconv.ParseInt(text, 36, 64)
	return err == nil && time.Now().Unix() < until
}

// Own reports whether the request comes from a page of this server, or from none.
func Own(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}

// within serves a page to a browser that is logged in. A change must come from a form of its own.
func (p *Pages) within(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		change := r.Method != http.MethodGet && r.Method != http.MethodHead
		switch {
		case !change && !Own(r):
			// A link of another site: the browser keeps the cookie back, unless the page itself leads to the address.
			p.render(w, r, http.StatusOK, &data{Pages: p, View: "onward", Title: "One moment", Path: r.URL.RequestURI()})
		case !p.Knows(r) && r.Header.Get("HX-Request") != "": // A script would put the page of the login into the page.
			w.Header().Set("HX-Redirect", "/login")
			w.WriteHeader(http.StatusUnauthorized)
		case !p.Knows(r) && !change:
			http.Redirect(w, r, "/login?to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		case !p.Knows(r):
			p.refuse(w, r, "the browser is not logged in", "log in again, and repeat the change")
		case change && (!Own(r) || !p.formed(r)):
			p.refuse(w, r, "the form was not sent by a page of this server", "open the page again, and repeat the change")
		default:
			next(w, r)
		}
	}
}

// mostForm bounds the body of a form, in bytes.
const mostForm = 1 << 20

// formed reports whether the form carries its token.
func (p *Pages) formed(r *http.Request) bool {
	r.Body = http.MaxBytesReader(nil, r.Body, mostForm)
	cookie, err := r.Cookie(p.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(r.PostFormValue("token")), []byte(p.formToken(cookie.Value))) == 1
}

func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, detail, next string) {
	d := p.newData(r, "problem", "Refused")
	d.Problem = &Problem{Status: http.StatusForbidden, Detail: detail, Next: next}
	p.render(w, r, http.StatusForbidden, d)
}

// enter logs a browser in, and leads it to the page that it asked for.
func (p *Pages) enter(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	e := &entrance{To: local(r.FormValue("to"))}
	admitted := false
	switch {
	case r.Method == http.MethodPost && !Own(r):
		e.Problem = "The form was sent by another page."
	case r.Method == http.MethodPost:
		if admitted = p.Admits(strings.TrimSpace(r.PostFormValue("password"))); !admitted {
			e.Problem = "This is not the server's token."
		}
	case r.Method == http.MethodGet && r.URL.Query().Has("code"): // A HEAD is a look at the link.
		if admitted = p.take(r.URL.Query().Get("code")); !admitted && !p.Knows(r) {
			e.Problem = fmt.Sprintf("The link was used already, is older than %d minutes, or the server was started again since.", e.Minutes())
		}
	}
	switch {
	case admitted:
		p.setCookie(w, r, p.cookie, p.newCookie(time.Now().Add(sessionTime)), sessionTime)
		fallthrough
	case e.Problem == "" && p.Knows(r):
		http.Redirect(w, r, e.To, http.StatusSeeOther)
	case e.Problem != "":
		p.render(w, r, http.StatusForbidden, &data{Pages: p, View: "login", Title: "Log in", Login: e})
	default:
		p.render(w, r, http.StatusUnauthorized, &data{Pages: p, View: "login", Title: "Log in", Login: e})
	}
}

// local returns the address if it is one of this server, and otherwise that of the overview.
func local(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") || strings.ContainsAny(address, "\\\n\r") {
		return "/"
	}
	return u.String()
}

// leave logs a browser out.
func (p *Pages) leave(w http.ResponseWriter, r *http.Request) {
	p.setCookie(w, r, p.cookie, "", -time.Second)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func (p *Pages) setCookie(w http.ResponseWriter, r *http.Request, name, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(age / time.Second), HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
}

// person returns the name of the person who uses the browser.
func (p *Pages) person(r *http.Request) string {
	if cookie, err := r.Cookie(p.cookie + "_name"); err == nil {
		if name, err := url.QueryUnescape(cookie.Value); err == nil && strings.TrimSpace(name) != "" {
			return name
		}
	}
	return p.Person
}
