package payload_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/history/v1"
	protocolpb "go.temporal.io/api/protocol/v1"
	"go.temporal.io/api/serviceerror"
	updatepb "go.temporal.io/api/update/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"axiommind/worker/payload"
)

// server keeps the last request and gives the answers that are set.
type server struct {
	workflowservice.UnimplementedWorkflowServiceServer
	got         proto.Message
	described   *workflowservice.DescribeWorkflowExecutionResponse
	listed      *workflowservice.ListWorkflowExecutionsResponse
	history     *workflowservice.GetWorkflowExecutionHistoryResponse
	unavailable atomic.Int32
}

func (s *server) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (s *server) StartWorkflowExecution(_ context.Context, r *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	s.got = r
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "r"}, nil
}

func (s *server) RespondActivityTaskFailed(_ context.Context, r *workflowservice.RespondActivityTaskFailedRequest) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	s.got = r
	if s.unavailable.Add(-1) >= 0 {
		return nil, status.Error(codes.Unavailable, "away")
	}
	return &workflowservice.RespondActivityTaskFailedResponse{}, nil
}

func (s *server) RespondWorkflowTaskCompleted(_ context.Context, r *workflowservice.RespondWorkflowTaskCompletedRequest) (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	s.got = r
	return &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil
}

func (s *server) DescribeWorkflowExecution(context.Context, *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return s.described, nil
}

func (s *server) ListWorkflowExecutions(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return s.listed, nil
}

func (s *server) GetWorkflowExecutionHistory(context.Context, *workflowservice.GetWorkflowExecutionHistoryRequest) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	return s.history, nil
}

// serve runs the server, and returns its address.
func (s *server) serve(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(g, s)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return l.Addr().String()
}

// dial connects with the ring.
func dial(t *testing.T, address string, ring *payload.Ring) client.Client {
	t.Helper()
	options, err := ring.DialOptions()
	require.NoError(t, err)
	c, err := client.NewLazyClient(client.Options{HostPort: address, ConnectionOptions: client.ConnectionOptions{DialOptions: options}})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func wire(t *testing.T, m proto.Message) string {
	t.Helper()
	raw, err := proto.Marshal(m)
	require.NoError(t, err)
	return string(raw)
}

const secret = "the harbour fee is 12 euros"

func TestStartIsEncrypted(t *testing.T) {
	t.Parallel()
	s := &server{}
	c := dial(t, s.serve(t), ringOf(t, "k1 "+keyOf(1)))
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "w", TaskQueue: "q", StaticSummary: secret, Memo: map[string]any{"m": secret},
		SearchAttributes: map[string]any{"Project": "demo"}, //nolint:staticcheck // What it makes of them is looked at.
	}, "wf", secret)
	require.NoError(t, err)
	require.NotContains(t, wire(t, s.got), "harbour")
	attributes := s.got.(*workflowservice.StartWorkflowExecutionRequest).GetSearchAttributes().GetIndexedFields()
	require.Equal(t, `"demo"`, string(attributes["Project"].GetData()), "Temporal searches by it")
}

// The message, the trace and the details of a failure and of its causes are encrypted, once, however often it is sent.
func TestFailureIsEncrypted(t *testing.T) {
	t.Parallel()
	s := &server{}
	ring := ringOf(t, "k1 "+keyOf(1))
	address := s.serve(t)
	c := dial(t, address, ring)
	s.unavailable.Store(2)
	request := &workflowservice.RespondActivityTaskFailedRequest{Failure: &failurepb.Failure{
		Message: secret, StackTrace: "at harbour.go:1", Source: "GoSDK",
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
			Type: "invalid_input", Details: &commonpb.Payloads{Payloads: []*commonpb.Payload{plain(secret)}},
		}},
		Cause: &failurepb.Failure{Message: "because " + secret},
	}}
	before := proto.Clone(request)
	for range 3 {
		_, _ = c.WorkflowService().RespondActivityTaskFailed(t.Context(), request)
	}
	require.True(t, proto.Equal(before, request), "what the caller sends again is as it was")
	require.NotContains(t, wire(t, s.got), "harbour")
	stored := s.got.(*workflowservice.RespondActivityTaskFailedRequest).GetFailure()
	require.Equal(t, "invalid_input", stored.GetApplicationFailureInfo().GetType(), "retries go by it")

	s.described = &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{},
		PendingActivities:     []*workflowpb.PendingActivityInfo{{LastFailure: stored, HeartbeatDetails: &commonpb.Payloads{Payloads: []*commonpb.Payload{encode(t, ring, plain(`"beat"`))}}}},
	}
	d, err := c.DescribeWorkflowExecution(t.Context(), "w", "")
	require.NoError(t, err)
	read := d.GetPendingActivities()[0]
	require.Equal(t, []string{secret, "at harbour.go:1", "because " + secret, `"beat"`}, []string{
		read.GetLastFailure().GetMessage(), read.GetLastFailure().GetStackTrace(), read.GetLastFailure().GetCause().GetMessage(),
		string(read.GetHeartbeatDetails().GetPayloads()[0].GetData()),
	})
}

// Updates travel in messages of any type.
func TestUpdateIsEncrypted(t *testing.T) {
	t.Parallel()
	s := &server{}
	c := dial(t, s.serve(t), ringOf(t, "k1 "+keyOf(1)))
	body, err := anypb.New(&updatepb.Response{Outcome: &updatepb.Outcome{Value: &updatepb.Outcome_Failure{Failure: &failurepb.Failure{Message: secret}}}})
	require.NoError(t, err)
	accepted, err := anypb.New(&updatepb.Acceptance{AcceptedRequest: &updatepb.Request{Input: &updatepb.Input{
		Args: &commonpb.Payloads{Payloads: []*commonpb.Payload{plain(secret)}},
	}}})
	require.NoError(t, err)
	_, err = c.WorkflowService().RespondWorkflowTaskCompleted(t.Context(), &workflowservice.RespondWorkflowTaskCompletedRequest{
		Messages: []*protocolpb.Message{{Body: body}, {Body: accepted}},
	})
	require.NoError(t, err)
	require.NotContains(t, wire(t, s.got), "harbour")
}

// A payload that can't be decrypted is not received, and the reason is reported. It is not retried. A list is received.
func TestUnknownKey(t *testing.T) {
	t.Parallel()
	memo := &commonpb.Memo{Fields: map[string]*commonpb.Payload{"m": encode(t, ringOf(t, "k2 "+keyOf(2)), plain(secret))}}
	s := &server{
		described: &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Memo: memo}},
		listed:    &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{{Memo: memo}}},
	}
	address := s.serve(t)
	for _, c := range []struct {
		ring *payload.Ring
		want string
	}{
		{ringOf(t, "k1 "+keyOf(1)), `key "k2", which is not in "`},
		{&payload.Ring{}, "--payload-key-file"},
	} {
		connection := dial(t, address, c.ring)
		_, err := connection.DescribeWorkflowExecution(t.Context(), "w", "")
		require.ErrorContains(t, err, c.want)
		var refused *serviceerror.FailedPrecondition
		require.ErrorAs(t, err, &refused)
		list, err := connection.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{})
		require.NoError(t, err)
		require.True(t, proto.Equal(memo, list.GetExecutions()[0].GetMemo()))
	}
}

// Some servers send histories as bytes.
func TestPackedHistory(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "k1 "+keyOf(1))
	event := func(id int64, p *commonpb.Payload) *history.HistoryEvent {
		return &history.HistoryEvent{EventId: id, EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, Attributes: &history.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
			WorkflowExecutionSignaledEventAttributes: &history.WorkflowExecutionSignaledEventAttributes{Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{p}}},
		}}
	}
	var blobs []*commonpb.DataBlob
	for id := range int64(3) {
		batch := &history.History{Events: []*history.HistoryEvent{event(id+1, encode(t, ring, plain(strings.Repeat("x", int(id)))))}}
		blobs = append(blobs, &commonpb.DataBlob{EncodingType: enums.ENCODING_TYPE_PROTO3, Data: []byte(wire(t, batch))})
	}
	s := &server{history: &workflowservice.GetWorkflowExecutionHistoryResponse{RawHistory: blobs}}
	c := dial(t, s.serve(t), ring)
	it := c.GetWorkflowHistory(t.Context(), "w", "r", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	n := 0
	for it.HasNext() {
		e, err := it.Next()
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("x", n), string(e.GetWorkflowExecutionSignaledEventAttributes().GetInput().GetPayloads()[0].GetData()))
		n++
	}
	require.Equal(t, 3, n)
	it = c.GetWorkflowHistory(t.Context(), "w", "r", false, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	e, err := it.Next()
	require.NoError(t, err)
	require.Equal(t, int64(3), e.GetEventId())
}
