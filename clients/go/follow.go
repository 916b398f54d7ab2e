package runnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	runnelv1 "github.com/runnel/runnel/clients/go/gen/runnel/v1"
)

// Follow yields the results of a run after a sequence, each once and in order, up to the terminal one; 0 is the start. It opens
// the stream again when the connection breaks, when the stream is silent for too long, and when the service restarts, for as long
// as the context allows. An error is the last that it yields: the answer of the service that no repetition changes, or the end of
// the context.
//
// A turn may restart. Then results after turn.restarted replace earlier ones, and Text has the valid text.
func (c *Client) Follow(ctx context.Context, runID string, after int64) iter.Seq2[*runnelv1.RunResult, error] {
	return func(yield func(*runnelv1.RunResult, error) bool) {
		for each, err := range c.followLog(ctx, runID, after) {
			if !yield(each.result, err) {
				return
			}
		}
	}
}

// StoredResults yields the stored bytes of the results of a run, as VerifyReceipt needs them. It follows the run like Follow.
func (c *Client) StoredResults(ctx context.Context, runID string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for each, err := range c.followLog(ctx, runID, 0) {
			if !yield(each.bytes, err) {
				return
			}
		}
	}
}

type entry struct {
	bytes  []byte
	result *runnelv1.RunResult
}

func (c *Client) followLog(ctx context.Context, runID string, after int64) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		reader := reader{client: c, runID: runID, last: after, endedAt: neverEnded, yield: yield}
		for delay := (delays{}); ; {
			before := reader.last
			err := reader.read(ctx)
			switch {
			case reader.isOver:
				return
			case ctx.Err() != nil || isAnswer(err):
				yield(entry{}, typed(ctx, err))
				return
			case reader.last > before:
				delay.reset()
			}
			if !delay.wait(ctx, err) {
				yield(entry{}, typed(ctx, err))
				return
			}
		}
	}
}

// isAnswer says whether the same call gets the same answer again: docs/resuming.md has the table.
func isAnswer(err error) bool {
	switch errorOf(err).Code {
	case codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.NotFound,
		codes.OutOfRange, codes.FailedPrecondition, codes.Unimplemented, codes.DataLoss:
		return true
	default:
		return false
	}
}

// reader reads a log stream by stream.
type reader struct {
	client *Client
	runID  string
	yield  func(entry, error) bool
	// last is the sequence of the last result that was yielded.
	last int64
	// endedAt is the last result before the last stream ended with OK, and neverEnded when that stream broke.
	endedAt int64
	// isOver is true after the last result, and when the consumer wants no more.
	isOver bool
}

const neverEnded = -1

// errSilent cancels a stream that was silent for too long.
var errSilent = errors.New("the stream is silent")

// errEarlyEnd is the failure of a stream that ended with OK before the terminal result.
var errEarlyEnd = status.Error(codes.Unavailable, "the stream ended before the end of the run")

// read reads one stream. It returns why the stream ended, unless the reader is over.
func (r *reader) read(ctx context.Context) error {
	connection := r.client.caller.connection
	channel := connection.channel()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(r.client.idleTimeout, func() { cancel(errSilent) })
	defer idle.Stop()
	isHeard := false
	description := &grpc.StreamDesc{ServerStreams: true}
	stream, err := r.client.caller.NewStream(ctx, description, runnelv1.RunService_TailRun_FullMethodName)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(&runnelv1.TailRunRequest{RunId: r.runID, After: r.last}); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	endedAt := r.endedAt
	r.endedAt = neverEnded
	for {
		// The time that the consumer takes is not silence of the service.
		idle.Reset(r.client.idleTimeout)
		// The same message on the wire as TailRunResponse, with the results as stored.
		response := &runnelv1.TailRunBytes{}
		err := stream.RecvMsg(response)
		idle.Stop()
		if errors.Is(err, io.EOF) {
			// Twice without a new result: the caller had the last one already, or its type is newer than this library.
			r.isOver = endedAt == r.last
			r.endedAt = r.last
			return errEarlyEnd
		}
		if err != nil {
			// The service opens each stream at once with an empty message, so the connection does not reach it.
			if !isHeard && errors.Is(context.Cause(ctx), errSilent) {
				connection.replace(channel)
			}
			return err
		}
		isHeard = true
		for _, bytes := range response.GetResults() {
			if err := r.take(bytes); err != nil || r.isOver {
				return err
			}
		}
	}
}

func (r *reader) take(bytes []byte) error {
	result := &runnelv1.RunResult{}
	if err := proto.Unmarshal(bytes, result); err != nil {
		return status.Errorf(codes.Internal, "a result after %d is unreadable: %v", r.last, err)
	}
	switch sequence := result.GetSequence(); {
	case sequence <= r.last:
		return nil
	case sequence > r.last+1:
		return status.Error(codes.Internal, fmt.Sprintf("result %d follows result %d", sequence, r.last))
	}
	r.last = result.GetSequence()
	isLast := EndOf(result) != nil
	r.isOver = !r.yield(entry{bytes, result}, nil) || isLast
	return nil
}
