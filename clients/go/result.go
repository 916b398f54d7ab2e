package runnel

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/runnel/runnel/clients/go/gen/runnel/options/v1"
	runnelv1 "github.com/runnel/runnel/clients/go/gen/runnel/v1"
)

const unknownType = "unknown"

// payloads are the types of results that this library knows.
var payloads = (&runnelv1.RunResult{}).ProtoReflect().Descriptor().Oneofs().ByName("payload")

// TypeOf returns the dotted name of a result's type, such as message.delta, and unknown for a type that is newer than this
// library.
func TypeOf(result *runnelv1.RunResult) string {
	field := result.ProtoReflect().WhichOneof(payloads)
	if field == nil {
		return unknownType
	}
	return nameOf(field)
}

func nameOf(field protoreflect.FieldDescriptor) string {
	return proto.GetExtension(field.Options(), optionsv1.E_Result).(*optionsv1.ResultType).GetName()
}

func isKnownType(name string) bool {
	for index := range payloads.Fields().Len() {
		if nameOf(payloads.Fields().Get(index)) == name {
			return true
		}
	}
	return false
}

// End says how a run ended.
type End struct {
	// State is STATE_COMPLETED, STATE_FAILED or STATE_CANCELLED.
	State runnelv1.Run_State
	// Output is the output of the run.
	Output string
	// Code is the finish reason of a completed run, such as stop, or the code of a failure, such as runner.timeout.
	Code string
	// Error describes a failure, for people.
	Error string
	// IsRetryable is true when the same request may succeed later.
	IsRetryable bool
	// Pending are the calls of functions that the caller has to answer.
	Pending []*runnelv1.ToolCall
}

// EndOf returns how a terminal result ended its run, and nil for every other result.
func EndOf(result *runnelv1.RunResult) *End {
	switch payload := result.GetPayload().(type) {
	case *runnelv1.RunResult_RunCompleted:
		completed := payload.RunCompleted
		output := completed.GetOutput()
		if completed.GetMessage() != nil {
			output = textOf(completed.GetMessage())
		}
		return &End{
			State: runnelv1.Run_STATE_COMPLETED, Output: output, Code: completed.GetFinishReason(),
			Pending: completed.GetPendingToolCalls(),
		}
	case *runnelv1.RunResult_RunFailed:
		failed := payload.RunFailed
		state := runnelv1.Run_STATE_FAILED
		if failed.GetCode() == "cancelled" {
			state = runnelv1.Run_STATE_CANCELLED
		}
		return &End{
			State: state, Output: failed.GetOutput(), Code: failed.GetCode(), Error: failed.GetError(),
			IsRetryable: failed.GetRetryable(),
		}
	default:
		return nil
	}
}

func textOf(message *runnelv1.Message) string {
	if parts := message.GetParts(); parts != nil {
		var text strings.Builder
		for _, element := range parts.GetElements() {
			text.WriteString(element.GetText())
		}
		return text.String()
	}
	return message.GetText()
}

// Text is the text that a run has written so far, without the void text of restarted turns. Its zero value is empty. Add every
// result in order. The first result of another run, as in Client.Ask, begins an empty text.
type Text struct {
	runID  string
	pieces []piece
}

type piece struct {
	sequence int64
	text     string
	// isEnd marks the end of a message.
	isEnd bool
}

// Add adds the text of a result, or drops what it makes void.
func (t *Text) Add(result *runnelv1.RunResult) {
	if result.GetRunId() != t.runID {
		t.runID, t.pieces = result.GetRunId(), nil
	}
	switch payload := result.GetPayload().(type) {
	case *runnelv1.RunResult_MessageDelta:
		chunk := payload.MessageDelta.GetChunk()
		if chunk.GetReplacesText() {
			t.dropMessage()
		}
		t.pieces = append(t.pieces, piece{sequence: result.GetSequence(), text: chunk.GetContent()})
	case *runnelv1.RunResult_MessageCompleted:
		t.pieces = append(t.pieces, piece{sequence: result.GetSequence(), isEnd: true})
	case *runnelv1.RunResult_TurnRestarted:
		t.dropFrom(payload.TurnRestarted.GetFromSequence())
	}
}

// dropMessage drops the pieces of the message that is being written.
func (t *Text) dropMessage() {
	for len(t.pieces) > 0 && !t.pieces[len(t.pieces)-1].isEnd {
		t.pieces = t.pieces[:len(t.pieces)-1]
	}
}

func (t *Text) dropFrom(sequence int64) {
	for len(t.pieces) > 0 && t.pieces[len(t.pieces)-1].sequence >= sequence {
		t.pieces = t.pieces[:len(t.pieces)-1]
	}
}

func (t *Text) String() string {
	var text strings.Builder
	for _, piece := range t.pieces {
		text.WriteString(piece.text)
	}
	return text.String()
}
