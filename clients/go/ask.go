package runnel

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	runnelv1 "github.com/runnel/runnel/clients/go/gen/runnel/v1"
)

// Function is a tool that the model may call and that this program runs.
type Function struct {
	// Name has 1 to 64 letters, digits, dashes and underscores.
	Name string
	// Description tells the model what the function does.
	Description string
	// Parameters is the JSON Schema of the arguments; empty means no arguments.
	Parameters string
	// Call gets the arguments as the model wrote them, which may be invalid JSON, and returns the text of the result. The model
	// sees the message of an error.
	Call func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// A model that only calls functions would never end otherwise.
const askedRunsMax = 100

// Ask sends a message, follows its run, runs the functions that the model calls, sends their results, and follows the next run,
// until a run ends without pending calls. It yields the results of all these runs like Follow; EndOf the last one has the answer.
//
// The functions replace the tools of the session's agent in these runs. AskWith keeps other tools and settings.
func (c *Client) Ask(ctx context.Context, sessionID, message string, functions ...Function) iter.Seq2[*runnelv1.RunResult, error] {
	return c.AskWith(ctx, &runnelv1.SendMessageRequest{SessionId: sessionID, Message: message}, functions...)
}

// AskWith is Ask for a whole request. The functions join the tools of its agent, in all runs.
func (c *Client) AskWith(
	ctx context.Context, request *runnelv1.SendMessageRequest, functions ...Function,
) iter.Seq2[*runnelv1.RunResult, error] {
	return func(yield func(*runnelv1.RunResult, error) bool) {
		next := withFunctions(request, functions)
		for range askedRunsMax {
			run, err := c.Sessions.SendMessage(ctx, next)
			if err != nil {
				yield(nil, err)
				return
			}
			var end *End
			for result, err := range c.Follow(ctx, run.GetRunId(), 0) {
				if !yield(result, err) || err != nil {
					return
				}
				end = EndOf(result)
			}
			if end == nil || len(end.Pending) == 0 {
				return
			}
			next = &runnelv1.SendMessageRequest{
				SessionId:  request.GetSessionId(),
				Messages:   callAll(ctx, functions, end.Pending),
				Agent:      next.GetAgent(),
				AfterRunId: run.GetRunId(),
			}
		}
		message := fmt.Sprintf("the model still calls functions after %d runs", askedRunsMax)
		yield(nil, &Error{Code: codes.ResourceExhausted, Reason: "RUNS_EXHAUSTED", Message: message})
	}
}

func withFunctions(request *runnelv1.SendMessageRequest, functions []Function) *runnelv1.SendMessageRequest {
	request = proto.CloneOf(request)
	if len(functions) == 0 {
		return request
	}
	if request.Agent == nil {
		request.Agent = &runnelv1.Agent{}
	}
	if request.Agent.Tools == nil {
		request.Agent.Tools = &runnelv1.AgentTools{}
	}
	for _, function := range functions {
		request.Agent.Tools.Functions = append(request.Agent.Tools.Functions, &runnelv1.FunctionTool{
			Name: function.Name, Description: function.Description, Parameters: function.Parameters,
		})
	}
	return request
}

// callAll runs the calls one after the other, in the order of the model.
func callAll(ctx context.Context, functions []Function, calls []*runnelv1.ToolCall) []*runnelv1.Message {
	answers := make([]*runnelv1.Message, 0, len(calls))
	for _, call := range calls {
		text, err := callOne(ctx, functions, call)
		answer := &runnelv1.Message{Role: "tool", ToolCallId: proto.String(call.GetId())}
		if err != nil {
			text = err.Error()
			answer.IsError = proto.Bool(true)
		}
		answer.Content = &runnelv1.Message_Text{Text: text}
		answers = append(answers, answer)
	}
	return answers
}

func callOne(ctx context.Context, functions []Function, call *runnelv1.ToolCall) (string, error) {
	for _, function := range functions {
		if function.Name == call.GetName() {
			return function.Call(ctx, json.RawMessage(call.GetArguments()))
		}
	}
	return "", fmt.Errorf("unknown function %q", call.GetName())
}
