package boundary_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/transcript"
	"axiommind/activities/transcript/format"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// final means that an error is not retried; see [boundary.Return].
const final = true

// row is one line of the table: an error as an activity meets it, and its classification.
type row struct {
	err         error
	failureType string
	final       bool
	delay       time.Duration
}

// errorTable is every error that an activity can return, by the exported name it has under activities/.
// TestEveryErrorIsClassified fails when one is missing.
var errorTable = map[string][]row{
	"eventlog.ErrInvalid":          {{err: eventlog.ErrInvalid, failureType: schema.ErrorStoreRejected, final: final}},
	"eventlog.InvalidError":        {{err: &eventlog.InvalidError{Index: 2, Field: "payload", Reason: "is no JSON"}, failureType: schema.ErrorStoreRejected, final: final}},
	"eventlog.ErasedError":         {{err: &eventlog.ErasedError{ErasureID: "0a1b2c3d4e", Kind: schema.EraseUser}, failureType: schema.ErrorErased, final: final}},
	"eventlog.ErasingError":        {{err: &eventlog.ErasingError{ErasureID: "0a1b2c3d4e"}, failureType: schema.ErrorErasing}},
	"clickhouse.ErrSchema":         {{err: clickhouse.ErrSchema, failureType: schema.ErrorStoreRejected, final: final}},
	"eventlog.ErrCorrupt":          {{err: eventlog.ErrCorrupt, failureType: schema.ErrorCorruptLog, final: final}},
	"eventlog.ErrConcurrentWriter": {{err: eventlog.ErrConcurrentWriter, failureType: schema.ErrorConcurrentWriter}},
	// Activities wait for a projection that is rebuilt, or that a person has to rebuild.
	"projection.ErrRebuilding":    {{err: projection.ErrRebuilding, failureType: schema.ErrorStoreUnavailable}},
	"projection.ErrSwitchAborted": {{err: projection.ErrSwitchAborted, failureType: schema.ErrorStoreUnavailable}},
	"projection.ErrShadowGone":    {{err: projection.ErrShadowGone, failureType: schema.ErrorStoreRejected, final: final}},
	"projection.StaleError":       {{err: &projection.StaleError{}, failureType: schema.ErrorStoreUnavailable}},
	// The cause is unknown if the log lacks an event that a caller was told of.
	"eventlog.ErrNotFound": {{err: eventlog.ErrNotFound, failureType: schema.ErrorInternal}},

	"transcript.ErrUnknownFormat": {{err: transcript.ErrUnknownFormat, failureType: schema.ErrorUnknownFormat, final: final}},
	"transcript.ErrNotTranscript": {{err: transcript.ErrNotTranscript, failureType: schema.ErrorUnknownFormat, final: final}},
	"format.ErrUnknownFormat":     {{err: format.ErrUnknownFormat, failureType: schema.ErrorUnknownFormat, final: final}},
	"format.ErrNotTranscript":     {{err: format.ErrNotTranscript, failureType: schema.ErrorUnknownFormat, final: final}},
	"format.ErrTooLarge":          {{err: format.ErrTooLarge, failureType: schema.ErrorSourceUnreadable, final: final}},
	"format.ErrTryAgain":          {{err: format.ErrTryAgain, failureType: schema.ErrorInternal}},

	"llm.Error": {
		{err: &llm.Error{Kind: llm.KindAuth}, failureType: schema.ErrorModelRefused, final: final},
		{err: &llm.Error{Kind: llm.KindQuota}, failureType: schema.ErrorModelRefused, final: final},
		{err: &llm.Error{Kind: llm.KindInvalidRequest}, failureType: schema.ErrorModelRefused, final: final},
		{err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: time.Minute}, failureType: schema.ErrorModelRateLimited, delay: time.Minute},
		{err: &llm.Error{Kind: llm.KindUnavailable}, failureType: schema.ErrorModelUnavailable},
		{err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: 8 * time.Hour}, failureType: schema.ErrorModelRateLimited, delay: 5 * time.Minute},
		{err: &llm.Error{Kind: llm.KindMalformed}, failureType: schema.ErrorModelMalformed},
		{err: &llm.Error{Kind: llm.KindEmpty}, failureType: schema.ErrorModelRejected},
		{err: &llm.Error{Kind: llm.KindTooLong}, failureType: schema.ErrorModelTooLong, final: final},
		{err: &llm.Error{Kind: llm.KindBlocked}, failureType: schema.ErrorModelBlocked, final: final},
		{err: &llm.Error{Kind: llm.KindTruncated}, failureType: schema.ErrorModelCut, final: final},
	},

	"task.ErrNotFound":  {{err: task.ErrNotFound, failureType: schema.ErrorTaskNotFound, final: final}},
	"task.ErrRefused":   {{err: task.ErrRefused, failureType: schema.ErrorTaskRefused, final: final}},
	"task.ErrCommand":   {{err: task.ErrCommand, failureType: schema.ErrorInvalidInput, final: final}},
	"task.ErrKey":       {{err: task.ErrKey, failureType: schema.ErrorInvalidInput, final: final}},
	"task.ErrAmbiguous": {{err: task.ErrAmbiguous, failureType: schema.ErrorInvalidInput, final: final}},

	"tier.ErrVersionNotFound": {{err: tier.ErrVersionNotFound, failureType: schema.ErrorVersionNotFound, final: final}},

	"fact.ErrStale":        {{err: fact.ErrStale, failureType: schema.ErrorFactStale, final: final}},
	"fact.ErrFactNotFound": {{err: fact.ErrFactNotFound, failureType: schema.ErrorFactNotFound, final: final}},
	"fact.ErrDuplicate":    {{err: fact.ErrDuplicate, failureType: schema.ErrorFactRefused, final: final}},
	"fact.ErrInvalid":      {{err: fact.ErrInvalid, failureType: schema.ErrorInvalidInput, final: final}},
	"fact.InvalidError":    {{err: &fact.InvalidError{Field: "op"}, failureType: schema.ErrorInvalidInput, final: final}},
	"fact.ErrScope":        {{err: fact.ErrScope, failureType: schema.ErrorScopeMismatch, final: final}},

	"vector.Error": {
		{err: &vector.Error{Host: "h", Op: "put"}, failureType: schema.ErrorVectorUnavailable},
		{err: &vector.Error{Host: "h", Op: "put", Status: 503}, failureType: schema.ErrorVectorUnavailable},
		{err: &vector.Error{Host: "h", Op: "put", Status: 429}, failureType: schema.ErrorVectorUnavailable},
		{err: &vector.Error{Host: "h", Op: "put", Status: 401}, failureType: schema.ErrorVectorRejected, final: final},
		{err: &vector.Error{Host: "h", Op: "put", Status: 422}, failureType: schema.ErrorVectorRejected, final: final},
	},
	"tier.FilesError": {
		{err: &tier.FilesError{Op: "write", Where: "MEMORY.md", Temporary: true, Err: syscall.ENOSPC}, failureType: schema.ErrorFilesUnavailable},
		{err: &tier.FilesError{Op: "write", Where: "MEMORY.md", Err: syscall.EACCES}, failureType: schema.ErrorFilesRefused, final: final},
	},

	"clickhouse.ErrNoScope": {{err: clickhouse.Required("user", ""), failureType: schema.ErrorInvalidInput, final: final}},

	"vector.ErrEmbedder":      {{err: vector.ErrEmbedder, failureType: schema.ErrorModelRefused, final: final}},
	"vector.ErrOtherEmbedder": {{err: vector.ErrOtherEmbedder, failureType: schema.ErrorInvalidInput, final: final}},
	"vector.ErrNoEmbedder":    {{err: vector.ErrNoEmbedder, failureType: schema.ErrorVectorUnavailable}},
	// A rebuild leaves the collection in use as it is.
	"vector.ErrCollectionChanged": {{err: vector.ErrCollectionChanged, failureType: schema.ErrorVectorRejected, final: final}},
	"vector.ErrUnequal":           {{err: vector.ErrUnequal, failureType: schema.ErrorVectorRejected, final: final}},
}

// otherErrors come from below the rooms: networks, stores and Temporal.
var otherErrors = []row{
	{err: errors.New("who knows"), failureType: schema.ErrorInternal},
	{err: boundary.Invalid(schema.ErrorUnknownFormat, errors.New("no format")), failureType: schema.ErrorUnknownFormat, final: final},
	{err: fact.ErrDuplicate, failureType: schema.ErrorFactRefused, final: final},
	{err: context.DeadlineExceeded, failureType: schema.ErrorStoreUnavailable},
	{err: io.ErrUnexpectedEOF, failureType: schema.ErrorStoreUnavailable},
	{err: syscall.ECONNREFUSED, failureType: schema.ErrorStoreUnavailable},
	{err: &net.DNSError{Err: "no such host", Name: "h"}, failureType: schema.ErrorStoreUnavailable},
	{err: &tls.CertificateVerificationError{Err: io.EOF}, failureType: schema.ErrorStoreRejected, final: final},
	{err: &clickhouse.Exception{Code: 252, Message: "too many parts"}, failureType: schema.ErrorStoreUnavailable},
	{err: &clickhouse.Exception{Code: 516, Message: "wrong password"}, failureType: schema.ErrorStoreRejected, final: final},
	{err: &clickhouse.Exception{Code: 60, Message: "no such table"}, failureType: schema.ErrorStoreRejected, final: final},
	{err: &clickhouse.Exception{Code: 49, Message: "logical error"}, failureType: schema.ErrorInternal},
	{err: &clickhouse.HTTPError{StatusCode: 503}, failureType: schema.ErrorStoreUnavailable},
	{err: &clickhouse.HTTPError{StatusCode: 403}, failureType: schema.ErrorStoreRejected, final: final},
	{err: serviceerror.NewUnavailable("away"), failureType: schema.ErrorTemporalUnavailable},
	{err: serviceerror.NewDeadlineExceeded("late"), failureType: schema.ErrorTemporalUnavailable},
	{err: serviceerror.NewResourceExhausted(0, "busy"), failureType: schema.ErrorTemporalUnavailable},
	{err: serviceerror.NewNotFound("gone"), failureType: schema.ErrorTemporalUnavailable},
	{err: serviceerror.NewInternal("header"), failureType: schema.ErrorTemporalUnavailable},
	{err: serviceerror.NewInvalidArgument("id is too long"), failureType: schema.ErrorTemporalRefused, final: final},
	{err: serviceerror.NewNamespaceNotFound("n"), failureType: schema.ErrorTemporalUnavailable},
	{err: serviceerror.NewPermissionDenied("no", ""), failureType: schema.ErrorTemporalRefused, final: final},
	{err: serviceerror.NewUnimplemented("what is that"), failureType: schema.ErrorTemporalRefused, final: final},
}

// notReturned are errors of a room that none of its activities returns, with the reason.
var notReturned = map[string]string{
	"tier.ErrChanged":         "is inside a tier.FilesError",
	"tier.ErrNoBucket":        "is inside a tier.FilesError",
	"bucket.AnswerError":      "is inside a tier.FilesError, which asks it for the status",
	"cluster.ErrNoRule":       "every statement of the product has a rule, which its golden files record",
	"store.ErrReadOnly":       "the starter reads; a worker has the writing client",
	"keyring.ErrNoKey":        "a worker encrypts with the first of its keys; only the starter may lack one",
	"fact.ErrDocument":        "the starter reads documents",
	"answer.ErrUnsafeUpdate":  "the starter reads updates",
	"answer.ErrUnreadable":    "a result says it: the window is asked again, then quarantined",
	"llm.ErrConfig":           "a worker with a wrong configuration does not start",
	"door.ErrFull":            "is of those who enqueue",
	"vector.ErrCollection":    "is inside a vector.Error, which is final then",
	"vector.ErrKeywordSearch": "is of the starter's doctor",
	"retrieve.ErrQuery":       "is of the starter's search",
	"retrieve.ErrNoMessage":   "is of the starter's entry show, and of agents",
	"build.ErrNotFound":       "is of the starter's builds",
	"onnx.ErrNoRuntime":       "makes the slower engine serve, and a model of a directory is refused before a worker runs",
	"e5.ErrNoLibrary":         "is told when the embedder is made, before a worker runs",
	"eval.ErrIncomparable":    "is of the starter's eval",
	"eval.ErrExists":          "is of the starter's eval",
	"eval.ErrInput":           "is of the starter's eval",
	"build.ErrUnfinished":     "is of the starter's builds",
	"build.ErrOtherSession":   "is of the starter's builds",
	"clickhouse.ErrAmbiguous": "is of the starter's lists; a writer answers with its own",
	"entry.ErrNoProject":      "is a clickhouse.ErrNoScope",
	"entry.ErrNoUser":         "is a clickhouse.ErrNoScope",
	"entry.ErrNotFound":       "is of the starter's entry",
	"graduate.ErrNoProposal":  "is of the starter's proposals; a command is refused with its own",
	"graduate.ErrNoConflict":  "is of the starter's conflicts; a command is refused with its own",
	"graduate.ErrNoDecision":  "is of the starter's decisions",
	"evidence.ErrFalse":       "is of the starter's verify",
	"evidence.ErrUnknownRule": "is of the starter's verify",
}

// Each error becomes one application error of its own type, not wrapped in anything: Temporal looks
// at the outermost alone.
func TestReturn(t *testing.T) {
	t.Parallel()
	rows := otherErrors
	for _, r := range errorTable {
		rows = append(rows, r...)
	}
	for _, r := range rows {
		for _, err := range []error{r.err, fmt.Errorf("read: %w", r.err), errors.Join(errors.New("and"), r.err)} {
			application, ok := boundary.Return(t.Context(), err).(*temporal.ApplicationError) //nolint:errorlint // the outermost counts
			require.True(t, ok, "%v", err)
			require.Equal(t, r.failureType, application.Type(), "%v", err)
			require.Equal(t, r.final, application.NonRetryable(), "%v", err)
			require.Equal(t, clickhouse.Readable(err).Error(), application.Message())
			require.Equal(t, r.delay, application.NextRetryDelay())
		}
	}
}

// A row that a server quotes in an error does not get into Temporal.
func TestReturnQuotesNoRow(t *testing.T) {
	t.Parallel()
	err := boundary.Return(t.Context(), fmt.Errorf("append 2 events to \"s\": %w", &clickhouse.HTTPError{StatusCode: 500, Err: &clickhouse.Exception{
		Code:    469,
		Message: "Constraint `short` for table a.b is violated at row 1. Expression: (c < 5). Column values: c = 'open sesame'. (VIOLATED_CONSTRAINT)",
	}}))
	require.NotContains(t, fmt.Sprintf("%+v", err), "sesame")
	require.ErrorContains(t, err, "append 2 events to \"s\": [HTTP 500] code: 469, message: Constraint `short` for table a.b is violated at row 1 (VIOLATED_CONSTRAINT)")
	for ; err != nil; err = errors.Unwrap(err) {
		require.NotContains(t, err.Error(), "sesame")
	}
}

// Every new error of a room must be classified.
func TestEveryErrorIsClassified(t *testing.T) {
	t.Parallel()
	declared := declaredErrors(t)
	require.Greater(t, len(declared), 20)
	for name := range declared {
		_, returned := errorTable[name]
		_, kept := notReturned[name]
		require.True(t, returned != kept, "%s: classify it in errorTable, or say in notReturned why no activity returns it", name)
	}
	for name := range errorTable {
		require.Contains(t, declared, name)
	}
	for name := range notReturned {
		require.Contains(t, declared, name)
	}
}

// No activity returns an error past the boundary, where it would have no class.
func TestEveryActivityReturnsThroughTheBoundary(t *testing.T) {
	t.Parallel()
	activities := 0
	forEachFile(t, func(file *ast.File) {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() || receiverOf(f) != "Activities" {
				continue
			}
			activities++
			through := false
			ast.Inspect(f.Body, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if ok {
					from, ok := selector.X.(*ast.Ident)
					through = through || ok && from.Name == "boundary" && slices.Contains([]string{"Run", "Return", "Submit"}, selector.Sel.Name)
				}
				return true
			})
			require.True(t, through, "%s.%s: return its error through boundary.Run, Submit or Return", file.Name.Name, f.Name.Name)
		}
	})
	require.Greater(t, activities, 10)
}

// declaredErrors are the exported variables Err… and the exported types with a method Error that the
// packages under activities/ declare. That error variables are called so is the linter's rule ST1012.
func declaredErrors(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	forEachFile(t, func(file *ast.File) {
		for _, name := range errorsOf(file) {
			declared[file.Name.Name+"."+name] = true
		}
	})
	return declared
}

// forEachFile parses the files of the packages under activities/.
func forEachFile(t *testing.T, do func(file *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		do(file)
		return nil
	})
	require.NoError(t, err)
}

// receiverOf is the name of a method's type.
func receiverOf(f *ast.FuncDecl) string {
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	name, ok := receiver.(*ast.Ident)
	if !ok {
		return ""
	}
	return name.Name
}

func errorsOf(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok || d.Tok != token.VAR {
					continue
				}
				for _, name := range value.Names {
					if strings.HasPrefix(name.Name, "Err") {
						names = append(names, name.Name)
					}
				}
			}
		case *ast.FuncDecl:
			if d.Name.Name == "Error" && d.Recv != nil && token.IsExported(receiverOf(d)) {
				names = append(names, receiverOf(d))
			}
		}
	}
	return names
}
