package chdb

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Exception is an error of the engine with ClickHouse's own code.
type Exception struct {
	Code int
	// Text is the whole message, "Code: 60. DB::Exception: ... (UNKNOWN_TABLE)".
	Text string
}

func (e *Exception) Error() string { return e.Text }

const (
	codeSyntaxError        = 62
	codeNotImplemented     = 48
	codeReadonly           = 164
	codeCannotReadAllData  = 33
	codeAuthFailed         = 516
	codeRequiredPassword   = 194
	codeAccessDenied       = 497
	codeQueryTooLarge      = 168
	codeUnknownCompression = 89
	codeUnknownException   = 1002
	codeBadArguments       = 36
)

func newException(code int, name, format string, args ...any) *Exception {
	return &Exception{Code: code, Text: fmt.Sprintf("Code: %d. DB::Exception: %s. (%s)", code, fmt.Sprintf(format, args...), name)}
}

var codePattern = regexp.MustCompile(`^Code: (\d+)\. `)

func parseException(text string) *Exception {
	text = strings.TrimSpace(text)
	if m := codePattern.FindStringSubmatch(text); m != nil {
		if code, err := strconv.Atoi(m[1]); err == nil {
			return &Exception{Code: code, Text: text}
		}
	}
	return newException(codeUnknownException, "UNKNOWN_EXCEPTION", "%s", text)
}

// statusOf is the HTTP status ClickHouse sends with an exception.
func statusOf(code int) int {
	switch code {
	case codeRequiredPassword:
		return http.StatusUnauthorized
	case 192, 193, codeAuthFailed, codeAccessDenied, 512: // UNKNOWN_USER, WRONG_PASSWORD, SET_NON_GRANTED_ROLE
		return http.StatusForbidden
	case 6, 25, 26, 27, 36, 38, 41, 42, 43, 44, 53, 59, 62, 63, 69, 70, 72, 117, 130, 131, 321, 349, 427:
		// Errors in the text of the query or of the rows: CANNOT_PARSE_*, BAD_ARGUMENTS,
		// NUMBER_OF_ARGUMENTS_DOESNT_MATCH, ILLEGAL_*, TYPE_MISMATCH, SYNTAX_ERROR, INCORRECT_DATA and so on.
		return http.StatusBadRequest
	case 46, 47, 50, 56, 60, 73, 78, 81, 82, 111, 115, 511:
		// UNKNOWN_FUNCTION, _IDENTIFIER, _TYPE, _STORAGE, _TABLE, _FORMAT, _TYPE_OF_QUERY, _DATABASE,
		// _DATABASE_ENGINE, DATABASE_ACCESS_DENIED, _SETTING, _ROLE.
		return http.StatusNotFound
	case codeQueryTooLarge:
		return http.StatusRequestEntityTooLarge
	case codeNotImplemented:
		return http.StatusNotImplemented
	case 159: // TIMEOUT_EXCEEDED
		return http.StatusRequestTimeout
	case 76, 209, 439: // CANNOT_OPEN_FILE, SOCKET_TIMEOUT, CANNOT_SCHEDULE_TASK
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
