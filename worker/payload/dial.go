package payload

import (
	"context"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// DialOptions make a connection to Temporal encrypt outgoing and decrypt incoming data: every payload of every request,
// and the messages and stack traces of failures. Search attributes stay as they are, because Temporal searches them.
//
// It is the connection that encrypts, not the data converter of the client. A data converter skips values that programs
// read from the API themselves, such as heartbeats, last failures, schedules and memos. A workflow whose input it can't
// decode fails for ever, and a signal is lost. Here the task is not received, and comes again when it can be read.
//
// A connection without keys decrypts nothing, and receives nothing that is encrypted, for the same reason.
func (r *Ring) DialOptions() ([]grpc.DialOption, error) {
	payloads, err := r.payloads(r.decode)
	if err != nil {
		return nil, err
	}
	lists, err := r.payloads(r.decodeKnown)
	if err != nil {
		return nil, err
	}
	byMethod := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		// A list also names payloads of other programs in the namespace. Their keys are not ours.
		if strings.Contains(method, "/List") {
			return lists(ctx, method, req, reply, cc, invoker, opts...)
		}
		return payloads(ctx, method, req, reply, cc, invoker, opts...)
	}
	if !r.Encrypts() {
		return []grpc.DialOption{grpc.WithChainUnaryInterceptor(byMethod, unpackHistory)}, nil
	}
	failures, err := failureInterceptor()
	if err != nil {
		return nil, err
	}
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(cloneRequest, failures, byMethod, unpackHistory)}, nil
}

func (r *Ring) payloads(decode visitor) (grpc.UnaryClientInterceptor, error) {
	o := proxy.PayloadVisitorInterceptorOptions{Inbound: &proxy.VisitPayloadsOptions{Visitor: decode, SkipSearchAttributes: true}}
	if r.Encrypts() {
		encode := func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			return r.Encode(payloads)
		}
		o.Outbound = &proxy.VisitPayloadsOptions{Visitor: encode, SkipSearchAttributes: true}
	}
	i, err := proxy.NewPayloadVisitorInterceptor(o)
	if err != nil {
		return nil, fmt.Errorf("set up the encryption of payloads: %w", err)
	}
	return i, nil
}

type visitor func(*proxy.VisitPayloadsContext, []*commonpb.Payload) ([]*commonpb.Payload, error)

// decode returns errors that the client does not try again: the same payload comes back.
func (r *Ring) decode(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out, err := r.Decode(payloads)
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return out, nil
}

// decodeKnown leaves payloads as they are if they can't be decrypted.
func (r *Ring) decodeKnown(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		out[i] = p
		if plain, err := r.Decode([]*commonpb.Payload{p}); err == nil {
			out[i] = plain[0]
		}
	}
	return out, nil
}

// failureInterceptor moves messages and stack traces of failures into payloads, which are then encrypted, and back.
func failureInterceptor() (grpc.UnaryClientInterceptor, error) {
	plain := converter.GetDefaultDataConverter()
	i, err := proxy.NewFailureVisitorInterceptor(proxy.FailureVisitorInterceptorOptions{
		Outbound: &proxy.VisitFailuresOptions{Visitor: func(_ *proxy.VisitFailuresContext, f *failurepb.Failure) error {
			return converter.EncodeCommonFailureAttributes(plain, f)
		}},
		Inbound: &proxy.VisitFailuresOptions{Visitor: func(_ *proxy.VisitFailuresContext, f *failurepb.Failure) error {
			converter.DecodeCommonFailureAttributes(plain, f)
			return nil
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("set up the encryption of failures: %w", err)
	}
	return i, nil
}

// cloneRequest keeps the request of the caller as it was: the other interceptors change it, and the client sends it again
// when an attempt fails. A failure that is encoded twice has lost its message.
func cloneRequest(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if message, ok := req.(proto.Message); ok {
		req = proto.Clone(message)
	}
	return invoker(ctx, method, req, reply, cc, opts...)
}

// unpackHistory unpacks the events that some servers send as bytes (frontend.sendRawWorkflowHistory), where no
// interceptor sees their payloads.
func unpackHistory(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := invoker(ctx, method, req, reply, cc, opts...); err != nil {
		return err
	}
	packed, ok := reply.(*workflowservice.GetWorkflowExecutionHistoryResponse)
	if !ok || len(packed.GetRawHistory()) == 0 {
		return nil
	}
	all := &history.History{}
	for _, blob := range packed.GetRawHistory() {
		part := &history.History{}
		if err := proto.Unmarshal(blob.GetData(), part); err != nil {
			return fmt.Errorf("unpack the history of a workflow: %w", err)
		}
		all.Events = append(all.Events, part.GetEvents()...)
	}
	asked, _ := req.(*workflowservice.GetWorkflowExecutionHistoryRequest)
	if last := len(all.Events) - 1; last > 0 && asked.GetHistoryEventFilterType() == enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT {
		all.Events = all.Events[last:] // Bytes hold the whole batch of the event.
	}
	packed.History, packed.RawHistory = all, nil
	return nil
}
