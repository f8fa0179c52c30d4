package clickhouse

// For the tests against a real server, which are in a package of their own: the server's package
// imports this one.
var (
	MigrateTo  = migrateTo
	Taking     = taking
	QuorumBusy = &Exception{Code: codeQuorumBusy}
)

var RetryableCodes = retryableCodes

// Waiting returns how many callers wait for the insert that runs, or -1 if none runs.
func Waiting(conn Conn, into string) int {
	groups.Lock()
	defer groups.Unlock()
	g, busy := groups.of[groupKey{conn, into}]
	if !busy {
		return -1
	}
	return len(g.waiting)
}
