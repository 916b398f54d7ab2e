// The conversation that the tests have with a runner in each language: test/external/runners/README.md. RUNNEL_URL is the URL of the
// service, RUNNEL_API_KEY the key of the client.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	runnel "github.com/runnel/runnel/clients/go"
	hostv1 "github.com/runnel/runnel/clients/go/gen/runnel/host/v1"
	"github.com/runnel/runnel/clients/go/worker"
)

var manifest = worker.Manifest{
	ID:           "plugin:tests/talk/default",
	Name:         "default",
	Label:        map[string]string{"en_US": "Talks"},
	Capabilities: map[string]bool{"streaming": true, "tool_calling": true},
	Permissions: map[string][]string{
		"models": {"invoke", "stream"}, "tools": {"detail", "call"}, "history": {"page"},
	},
}

func main() {
	client, err := runnel.Connect(os.Getenv("RUNNEL_URL"), runnel.APIKey(os.Getenv("RUNNEL_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err = worker.Serve(ctx, client, worker.Options{
		ID:        "tests.talk",
		Runners:   []worker.Runner{{Manifest: manifest, Run: run}},
		OnProblem: func(problem error) { log.Print(problem) },
	})
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, run *worker.Run) error {
	switch text := run.Context.GetInput().GetText(); text {
	case "forbidden":
		return callForbidden(ctx, run)
	case "wait":
		if err := run.Yield(worker.Delta("waiting")); err != nil {
			return err
		}
		<-ctx.Done()
		return run.Yield(worker.Failed("cancelled", "the run was cancelled"))
	case "panic":
		panic("as asked")
	case "count":
		for number := range 9_000 {
			if err := run.Yield(worker.Delta(fmt.Sprintf("%d ", number+1))); err != nil {
				return err
			}
		}
		return run.Yield(worker.Completed())
	default:
		return talk(ctx, run, text)
	}
}

func talk(ctx context.Context, run *worker.Run, text string) error {
	kept, err := run.Host.GetState(ctx, &hostv1.GetStateRequest{Scope: "conversation", Key: "count"})
	if err != nil {
		return err
	}
	count := 0
	if kept.GetFound() {
		if err := json.Unmarshal([]byte(kept.GetValue()), &count); err != nil {
			return err
		}
	}
	count++
	items, err := countItems(ctx, run.Host)
	if err != nil {
		return err
	}
	if err := run.Yield(worker.Delta(fmt.Sprintf("message %d, after %d items: ", count, items))); err != nil {
		return err
	}
	answer, usage, err := ask(ctx, run, text)
	if err != nil {
		return err
	}
	end := worker.Completed()
	end.Usage = usage
	note := worker.Result{Type: "artifact.created", Data: map[string]any{
		"artifact_type": "note", "artifact_id": fmt.Sprintf("note-%d", count), "mime_type": "text/plain",
		"name": "note.txt", "content_base64": base64.StdEncoding.EncodeToString([]byte(answer)),
	}}
	return run.Yield(worker.State("conversation", "count", count), note, worker.Message(answer), end)
}

func countItems(ctx context.Context, host *worker.Host) (int, error) {
	count := 0
	request := &hostv1.PageHistoryRequest{Limit: 2}
	for {
		page, err := host.PageHistory(ctx, request)
		if err != nil {
			return 0, err
		}
		count += len(page.GetItems())
		if !page.GetHasMore() {
			return count, nil
		}
		request.BeforeCursor = proto.String(page.GetNextCursor())
	}
}

func ask(ctx context.Context, run *worker.Run, text string) (answer string, usage *worker.Usage, err error) {
	question, err := json.Marshal(map[string]any{"role": "user", "content": text})
	if err != nil {
		return "", nil, err
	}
	request := &hostv1.InvokeModelStreamRequest{ModelId: "demo", Messages: []string{string(question)}}
	stream, err := run.Host.InvokeModelStream(ctx, request)
	if err != nil {
		return "", nil, err
	}
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return answer, usage, nil
		}
		if err != nil {
			return "", nil, err
		}
		if response.Chunk != nil {
			var chunk struct{ Content string }
			if err := json.Unmarshal([]byte(response.GetChunk()), &chunk); err != nil {
				return "", nil, err
			}
			answer += chunk.Content
			if chunk.Content != "" {
				if err := run.Yield(worker.Delta(chunk.Content)); err != nil {
					return "", nil, err
				}
			}
		}
		if used := response.GetUsage(); used != nil {
			usage = &worker.Usage{
				PromptTokens: used.GetPromptTokens(), CompletionTokens: used.GetCompletionTokens(),
				TotalTokens: used.GetTotalTokens(),
			}
		}
	}
}

func callForbidden(ctx context.Context, run *worker.Run) error {
	_, err := run.Host.CallTool(ctx, &hostv1.CallToolRequest{ToolName: "bash", Parameters: `{"command":"ls"}`})
	for _, detail := range status.Convert(err).Details() {
		if refused, ok := detail.(*hostv1.ApiError); ok {
			return run.Yield(worker.Failed(refused.GetCode(), refused.GetMessage()))
		}
	}
	return err
}
