package runnel

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// How long an interrupted call is repeated when its context has no earlier end.
const repeatMax = time.Minute

// caller is below all generated clients: it adds credentials, repeats what may be repeated, and types errors.
type caller struct {
	connection  *connection
	credentials Credentials
}

type onceOption struct{ grpc.EmptyCallOption }

// Once is a call option: the call is not repeated by the library.
func Once() grpc.CallOption {
	return onceOption{}
}

// Invoke makes a unary call.
func (c caller) Invoke(ctx context.Context, path string, request, reply any, options ...grpc.CallOption) error {
	message, ok := request.(proto.Message)
	if !ok {
		return invalid("REQUEST_INVALID", "the request is not a message of Protobuf")
	}
	message, mayRepeat := prepare(path, message)
	for _, option := range options {
		if _, isOnce := option.(onceOption); isOnce {
			mayRepeat = false
		}
	}
	giveUp := time.Now().Add(repeatMax)
	for delay := (delays{}); ; {
		err := c.invokeOnce(ctx, path, message, reply, options)
		if err == nil || ctx.Err() != nil || !mayRepeat || !isInterrupted(err) || time.Now().After(giveUp) {
			return typed(ctx, err)
		}
		if !delay.wait(ctx, err) {
			return typed(ctx, err)
		}
	}
}

func (c caller) invokeOnce(ctx context.Context, path string, request proto.Message, reply any, options []grpc.CallOption) error {
	options, err := c.withCredentials(path, request, options)
	if err != nil {
		return err
	}
	return c.connection.channel().Invoke(ctx, path, request, reply, options...)
}

// NewStream opens a server stream when its request is known, because signatures cover it.
func (c caller) NewStream(
	ctx context.Context, description *grpc.StreamDesc, path string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	open := func(request proto.Message) (grpc.ClientStream, error) {
		options, err := c.withCredentials(path, request, options)
		if err != nil {
			return nil, err
		}
		return c.connection.channel().NewStream(ctx, description, path, options...)
	}
	return &serverStream{ctx: ctx, open: open}, nil
}

// withCredentials relies on one property of the contract: without maps, a message has the same bytes each time. A test guards it.
func (c caller) withCredentials(path string, request proto.Message, options []grpc.CallOption) ([]grpc.CallOption, error) {
	if c.credentials == nil {
		return options, nil
	}
	bytes, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	own := grpc.PerRPCCredentials(attempt{c.credentials, path, bytes})
	return append(options[:len(options):len(options)], own), nil
}

type serverStream struct {
	grpc.ClientStream
	ctx  context.Context
	open func(proto.Message) (grpc.ClientStream, error)
}

func (s *serverStream) Context() context.Context {
	return s.ctx
}

func (s *serverStream) SendMsg(request any) error {
	message, ok := request.(proto.Message)
	if !ok {
		return invalid("REQUEST_INVALID", "the request is not a message of Protobuf")
	}
	stream, err := s.open(message)
	if err != nil {
		return typed(s.ctx, err)
	}
	s.ClientStream = stream
	return typed(s.ctx, stream.SendMsg(message))
}

func (s *serverStream) RecvMsg(reply any) error {
	err := s.ClientStream.RecvMsg(reply)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return typed(s.ctx, err)
}

// prepare fills an empty request id, and says whether the call may be repeated.
func prepare(path string, request proto.Message) (proto.Message, bool) {
	if idOf := request.ProtoReflect().Descriptor().Fields().ByName("request_id"); idOf != nil {
		if request.ProtoReflect().Get(idOf).String() != "" {
			return request, true
		}
		// The caller's message stays as it is: sent again, it is another request.
		request = proto.Clone(request)
		request.ProtoReflect().Set(idOf, protoreflect.ValueOfString(newID()))
		return request, true
	}
	method, err := protoregistry.GlobalFiles.FindDescriptorByName(nameOfMethod(path))
	if err != nil {
		return request, false
	}
	options, ok := method.Options().(*descriptorpb.MethodOptions)
	return request, ok && options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}

// nameOfMethod turns /runnel.v1.RunService/GetRun into runnel.v1.RunService.GetRun.
func nameOfMethod(path string) protoreflect.FullName {
	return protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "."))
}

// isInterrupted says whether the same unary call may succeed later.
func isInterrupted(err error) bool {
	failure := errorOf(err)
	switch failure.Code {
	case codes.Unavailable, codes.Internal, codes.Unknown, codes.Canceled, codes.DeadlineExceeded:
		return true
	default:
		return failure.RetryAfter > 0
	}
}

const (
	delayMin = 200 * time.Millisecond
	delayMax = 10 * time.Second
)

// delays waits between attempts: 0.2 s, then twice as long each time up to 10 s, or as long as the service asks for.
type delays struct{ last time.Duration }

// wait returns false when the context ends first.
func (d *delays) wait(ctx context.Context, err error) bool {
	d.last = min(max(2*d.last, delayMin), delayMax)
	delay := d.last
	if asked := errorOf(err).RetryAfter; asked > 0 {
		delay = asked
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (d *delays) reset() {
	d.last = 0
}
