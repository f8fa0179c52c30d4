package clickhouse

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// Exception is an error that the server reports.
type Exception = clickhouse.Exception

// HTTPError is a response of the server, or of a proxy before it, that is no success.
type HTTPError = clickhouse.HTTPError

// ErrSchema is returned if the database's migrations differ from the program's.
var ErrSchema = errors.New("database schema does not match the program")

// Temporary returns an error for which [Retryable] is true, like for all errors that wrap it.
func Temporary(text string) error { return temporary(text) }

type temporary string

func (e temporary) Error() string   { return string(e) }
func (e temporary) Retryable() bool { return true }

// retryableCodes are the ClickHouse exceptions that may not occur again when the same request is retried.
var retryableCodes = map[int32]string{
	3:    "UNEXPECTED_END_OF_FILE: the connection broke in the middle of a block",
	32:   "ATTEMPT_TO_READ_AFTER_EOF: likewise",
	159:  "TIMEOUT_EXCEEDED: the server was slower than the deadline",
	164:  "READONLY: a replica that is starting or lost its coordinator",
	202:  "TOO_MANY_SIMULTANEOUS_QUERIES",
	203:  "NO_FREE_CONNECTION: between servers",
	209:  "SOCKET_TIMEOUT: between servers",
	210:  "NETWORK_ERROR: between servers",
	225:  "NO_ZOOKEEPER: the coordinator is away",
	236:  "ABORTED: the server is stopping",
	241:  "MEMORY_LIMIT_EXCEEDED: other queries may end",
	242:  "TABLE_IS_READ_ONLY: the coordinator's session was lost",
	243:  "NOT_ENOUGH_SPACE: merges and people free it",
	252:  "TOO_MANY_PARTS: merges catch up",
	279:  "ALL_CONNECTION_TRIES_FAILED",
	285:  "TOO_FEW_LIVE_REPLICAS: the quorum is away",
	286:  "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE",
	289:  "REPLICA_IS_NOT_IN_QUORUM",
	319:  "UNKNOWN_STATUS_OF_INSERT: Append finds out when called again",
	394:  "QUERY_WAS_CANCELLED: by an operator or a stopping server",
	425:  "SYSTEM_ERROR: of the operating system",
	439:  "CANNOT_SCHEDULE_TASK: no thread is free",
	473:  "DEADLOCK_AVOIDED: with a change of the table",
	999:  "KEEPER_EXCEPTION",
	1000: "POCO_EXCEPTION: network below the server",
}

// refusedCodes are the ClickHouse exceptions that the same request always gets, until a person changes something.
// Codes in neither map may be of either kind.
var refusedCodes = map[int32]string{
	16:  "NO_SUCH_COLUMN_IN_TABLE",
	20:  "NUMBER_OF_COLUMNS_DOESNT_MATCH",
	36:  "BAD_ARGUMENTS",
	42:  "NUMBER_OF_ARGUMENTS_DOESNT_MATCH",
	43:  "ILLEGAL_TYPE_OF_ARGUMENT",
	46:  "UNKNOWN_FUNCTION",
	47:  "UNKNOWN_IDENTIFIER",
	53:  "TYPE_MISMATCH",
	60:  "UNKNOWN_TABLE",
	62:  "SYNTAX_ERROR",
	81:  "UNKNOWN_DATABASE",
	115: "UNKNOWN_SETTING",
	192: "UNKNOWN_USER",
	193: "WRONG_PASSWORD",
	194: "REQUIRED_PASSWORD",
	195: "IP_ADDRESS_NOT_ALLOWED",
	291: "DATABASE_ACCESS_DENIED",
	452: "SETTING_CONSTRAINT_VIOLATION",
	497: "ACCESS_DENIED",
	516: "AUTHENTICATION_FAILED",
}

// Refused reports whether the server understood the request and will never execute it, for example because of a wrong
// password, a missing right, a missing table or column, or a certificate that is not trusted.
func Refused(err error) bool {
	var exception *clickhouse.Exception
	var response *clickhouse.HTTPError
	switch {
	case Untrusted(err):
		return true
	case errors.As(err, &exception):
		_, ok := refusedCodes[exception.Code]
		return ok
	case errors.As(err, &response):
		return response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden
	default:
		return false
	}
}

// wantsCertificate is how a server refuses a client's certificate. The error has no type.
var wantsCertificate = regexp.MustCompile(`remote error: tls: [a-z ]*certificate`)

// Untrusted reports whether the client and an HTTP server do not agree on TLS: one does not trust the other's certificate,
// or the server speaks none.
func Untrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate) || errors.Is(err, http.ErrSchemeMismatch) ||
		err != nil && wantsCertificate.MatchString(err.Error())
}

// Retryable reports whether the same call may succeed later. It is true for network errors, an overloaded or starting
// server, a concurrent writer, and a projection that needs a rebuild. It is false for a cancelled context, an invalid
// or corrupt event, and a wrong password or query.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var says interface{ Retryable() bool }
	if errors.As(err, &says) {
		return says.Retryable()
	}
	if Untrusted(err) {
		return false
	}
	var exception *clickhouse.Exception
	if errors.As(err, &exception) {
		_, ok := retryableCodes[exception.Code]
		return ok
	}
	var response *clickhouse.HTTPError
	if errors.As(err, &response) {
		return response.StatusCode >= http.StatusInternalServerError ||
			response.StatusCode == http.StatusRequestTimeout || response.StatusCode == http.StatusTooManyRequests
	}
	for _, target := range []error{
		context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		clickhouse.ErrAcquireConnTimeout, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	var network net.Error
	return errors.As(err, &network)
}

// namingCodes are further ClickHouse exceptions, not retryable ones, whose text contains names, rights and types. It
// quotes no value of a row before the location in the query.
var namingCodes = map[int32]string{
	16:  "NO_SUCH_COLUMN_IN_TABLE",
	20:  "NUMBER_OF_COLUMNS_DOESNT_MATCH",
	42:  "NUMBER_OF_ARGUMENTS_DOESNT_MATCH",
	46:  "UNKNOWN_FUNCTION",
	47:  "UNKNOWN_IDENTIFIER",
	57:  "TABLE_ALREADY_EXISTS",
	60:  "UNKNOWN_TABLE",
	81:  "UNKNOWN_DATABASE",
	82:  "DATABASE_ALREADY_EXISTS",
	115: "UNKNOWN_SETTING",
	192: "UNKNOWN_USER",
	193: "WRONG_PASSWORD",
	194: "REQUIRED_PASSWORD",
	195: "IP_ADDRESS_NOT_ALLOWED",
	218: "TABLE_IS_DROPPED",
	291: "DATABASE_ACCESS_DENIED",
	344: "SUPPORT_IS_DISABLED",
	452: "SETTING_CONSTRAINT_VIOLATION",
	497: "ACCESS_DENIED",
	516: "AUTHENTICATION_FAILED",
}

var (
	// inQuery matches the beginning of the location in an exception: the query itself, with the texts it contains.
	inQuery = regexp.MustCompile(`(?i)[:.,]?\s*(?:\(in query:|\bin scope\b|\bwhile\s|\n)`)
	// plainBeginning is the part of other exceptions that contains only names and numbers.
	plainBeginning = regexp.MustCompile("^(?:Constraint `[^`]*` for table \\S+(?: \\([0-9a-f-]+\\))? is violated at row \\d+|Syntax error(?: \\(Multi-statements are not allowed\\))?: failed at position \\d+)")
	// codeName is the name of the code, which the server writes at the end of its text.
	codeName = regexp.MustCompile(`\(([A-Z][A-Z0-9_]+)\)(?: \(version [^()]*(?:\([^()]*\)[^()]*)?\))*\.?\s*$`)
	// quotedValue is a value in an error of the driver.
	quotedValue = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// Readable returns err without the failed request in its text: a person needs the cause of a driver's error, not the
// address with all its settings. Values that ClickHouse and the driver quote from a row or a query are left out too:
// they may be a user's message, and errors end up in logs, in Temporal and on screens.
func Readable(err error) error {
	text := err.Error()
	eachCause(err, func(cause error) {
		switch c := cause.(type) { //nolint:errorlint // each cause is looked at
		case *url.Error:
			text = strings.ReplaceAll(text, c.Error(), c.Err.Error())
		case *clickhouse.Exception:
			if c.Message != "" {
				text = strings.ReplaceAll(text, c.Message, withoutValues(c))
			}
		case *proto.BlockError:
			text = strings.ReplaceAll(text, c.Error(), quotedValue.ReplaceAllString(c.Error(), `"…"`))
		}
	})
	for _, noise := range []string{"failed to query server hello: ", "failed to query server hello info: ", "sendQuery: "} {
		text = strings.ReplaceAll(text, noise, "")
	}
	if text == err.Error() {
		return err
	}
	return &readable{error: err, text: text}
}

// eachCause calls do for err and all that it wraps.
func eachCause(err error, do func(error)) {
	do(err)
	switch wraps := err.(type) { //nolint:errorlint // likewise
	case interface{ Unwrap() error }:
		if cause := wraps.Unwrap(); cause != nil {
			eachCause(cause, do)
		}
	case interface{ Unwrap() []error }:
		for _, cause := range wraps.Unwrap() {
			eachCause(cause, do)
		}
	}
}

// withoutValues returns the text of an exception without the values and the query that it quotes. Little is left of an
// exception unless its code is known to keep values out of its own text.
func withoutValues(e *clickhouse.Exception) string {
	_, retryable := retryableCodes[e.Code]
	_, naming := namingCodes[e.Code]
	said := plainBeginning.FindString(e.Message)
	if retryable || naming {
		where := inQuery.FindStringIndex(e.Message)
		if where == nil {
			return e.Message
		}
		said = e.Message[:where[0]]
	}
	name := ""
	if found := codeName.FindStringSubmatch(e.Message); found != nil {
		name = "(" + found[1] + ")"
	}
	said = strings.TrimSpace(said + " " + name)
	return strings.TrimSpace(said + " (the rest may quote a text: see ClickHouse's log)")
}

type readable struct {
	error
	text string
}

func (r *readable) Error() string { return r.text }
func (r *readable) Unwrap() error { return r.error }
