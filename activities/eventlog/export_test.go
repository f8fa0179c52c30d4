package eventlog

// For the tests against a real server, which are in a package of their own: the server's package
// imports this one.
var (
	Canonical = canonical
	Token     = token
)
