// The conversation of the tests over stubs generated from the contract alone. RUNNEL_URL is the URL of the service,
// RUNNEL_API_KEY the key of the client.
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
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	hostv1 "runnel.test/runner/gen/runnel/host/v1"
	runnerv1 "runnel.test/runner/gen/runnel/runner/v1"
)

const manifest = `{
	"id": "plugin:tests/talk/default", "name": "default", "label": {"en_US": "Talks"},
	"capabilities": {"streaming": true, "tool_calling": true},
	"permissions": {"models": ["invoke", "stream"], "tools": ["detail", "call"], "history": ["page"]}
}`

type object = map[string]any

func main() {
	target := strings.TrimPrefix(os.Getenv("RUNNEL_URL"), "http://")
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)
	client := as(context.Background(), os.Getenv("RUNNEL_API_KEY"))
	registered, err := runnerv1.NewRunnerServiceClient(connection).RegisterRunners(client, &runnerv1.RegisterRunnersRequest{
		WorkerId: "tests.talk", Manifests: []string{manifest}, Era: "4.11",
	})
	must(err)
	if verdict := registered.Verdicts[0]; !verdict.Accepted {
		log.Fatal(verdict.Problem)
	}
	worker := &worker{
		runnerv1.NewRunnerWorkerServiceClient(connection),
		hostv1.NewHostToolServiceClient(connection),
		hostv1.NewHostStorageServiceClient(connection),
		hostv1.NewHostHistoryServiceClient(connection),
		hostv1.NewHostModelServiceClient(connection),
	}
	must(worker.listen(client, registered.WorkerSessionId))
}

func as(ctx context.Context, secret string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+secret)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type worker struct {
	work    runnerv1.RunnerWorkerServiceClient
	tools   hostv1.HostToolServiceClient
	storage hostv1.HostStorageServiceClient
	history hostv1.HostHistoryServiceClient
	models  hostv1.HostModelServiceClient
}

func (w *worker) listen(client context.Context, session string) error {
	stream, err := w.work.ListenAssignments(client, &runnerv1.ListenAssignmentsRequest{
		WorkerSessionId: session, MaxConcurrent: 10,
	})
	if err != nil {
		return err
	}
	cancels := map[string]context.CancelFunc{}
	for {
		told, err := stream.Recv()
		if err != nil {
			return err
		}
		if cancel := cancels[told.GetCancel().GetRunId()]; cancel != nil {
			cancel()
		}
		if offer := told.GetOffer(); offer != nil {
			ctx, cancel := context.WithCancel(context.Background())
			cancels[offer.RunId] = cancel
			go w.take(ctx, client, session, offer)
		}
	}
}

func (w *worker) take(ctx, client context.Context, session string, offer *runnerv1.RunOffer) {
	accepted, err := w.work.AcceptRun(client, &runnerv1.AcceptRunRequest{
		WorkerSessionId: session, RunId: offer.RunId, OfferId: offer.OfferId,
	})
	if status.Code(err).String() == "Aborted" {
		return
	}
	must(err)
	run := &run{w, client, as(ctx, accepted.RunToken), offer.RunId, accepted.Attempt, accepted.RunToken, 0}
	if err := run.perform(accepted.Context.Input.GetText()); err != nil {
		run.fail(err, ctx.Err() != nil)
	}
	must(run.send(&runnerv1.ReportResultsRequest{Finished: true}))
}

type run struct {
	*worker
	client   context.Context
	granted  context.Context
	id       string
	attempt  int32
	token    string
	sequence int64
}

func (r *run) perform(text string) error {
	switch text {
	case "forbidden":
		_, err := r.tools.CallTool(r.granted, &hostv1.CallToolRequest{
			RunId: r.id, ToolName: "bash", Parameters: `{"command":"ls"}`,
		})
		return err
	case "wait":
		r.delta("waiting")
		<-r.granted.Done()
		return r.granted.Err()
	default:
		return r.talk(text)
	}
}

func (r *run) talk(text string) error {
	kept, err := r.storage.GetState(r.granted, &hostv1.GetStateRequest{RunId: r.id, Scope: "conversation", Key: "count"})
	if err != nil {
		return err
	}
	count := 0
	if kept.Found {
		must(json.Unmarshal([]byte(kept.GetValue()), &count))
	}
	count++
	items, err := r.countItems()
	if err != nil {
		return err
	}
	r.delta(fmt.Sprintf("message %d, after %d items: ", count, items))
	answer, usage, err := r.ask(text)
	if err != nil {
		return err
	}
	r.report("state.updated", object{"scope": "conversation", "key": "count", "value": count}, nil)
	r.report("artifact.created", object{
		"artifact_type": "note", "artifact_id": fmt.Sprintf("note-%d", count), "mime_type": "text/plain",
		"name": "note.txt", "content_base64": base64.StdEncoding.EncodeToString([]byte(answer)),
	}, nil)
	r.report("message.completed", object{"message": object{"role": "assistant", "content": answer}}, nil)
	r.report("run.completed", object{"finish_reason": "stop"}, usage)
	return nil
}

func (r *run) countItems() (count int, err error) {
	request := &hostv1.PageHistoryRequest{RunId: r.id, Limit: 2}
	for {
		page, err := r.history.PageHistory(r.granted, request)
		if err != nil {
			return 0, err
		}
		count += len(page.Items)
		request.BeforeCursor = page.NextCursor
		if !page.HasMore {
			return count, nil
		}
	}
}

func (r *run) ask(text string) (answer string, usage object, err error) {
	stream, err := r.models.InvokeModelStream(r.granted, &hostv1.InvokeModelStreamRequest{
		RunId: r.id, ModelId: "demo", Messages: []string{print(object{"role": "user", "content": text})},
	})
	if err != nil {
		return "", nil, err
	}
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return answer, usage, nil
		}
		if err != nil {
			return "", nil, err
		}
		var chunk struct{ Content string }
		if piece.Chunk != nil {
			must(json.Unmarshal([]byte(piece.GetChunk()), &chunk))
		}
		if chunk.Content != "" {
			answer += chunk.Content
			r.delta(chunk.Content)
		}
		if used := piece.Usage; used != nil {
			usage = object{
				"prompt_tokens": used.GetPromptTokens(), "completion_tokens": used.GetCompletionTokens(),
				"total_tokens": used.GetTotalTokens(),
			}
		}
	}
}

func (r *run) fail(err error, isCancelled bool) {
	told := status.Convert(err)
	data := object{"error": told.Message(), "code": "runner.exception", "retryable": false}
	for _, detail := range told.Details() {
		if failure, ok := detail.(*hostv1.ApiError); ok {
			data = object{"error": failure.Message, "code": failure.Code, "retryable": failure.Retryable}
		}
	}
	if isCancelled {
		data = object{"error": "the run was cancelled", "code": "cancelled", "retryable": false}
	}
	r.report("run.failed", data, nil)
}

func (r *run) delta(content string) {
	r.report("message.delta", object{"chunk": object{"role": "assistant", "content": content}}, nil)
}

func (r *run) report(kind string, data, usage object) {
	r.sequence++
	result := &runnerv1.ReportedResult{Sequence: r.sequence, Type: kind, Data: print(data)}
	if usage != nil {
		text := print(usage)
		result.Usage = &text
	}
	must(r.send(&runnerv1.ReportResultsRequest{Results: []*runnerv1.ReportedResult{result}}))
}

func (r *run) send(request *runnerv1.ReportResultsRequest) error {
	request.RunId, request.Attempt, request.RunToken = r.id, r.attempt, r.token
	_, err := r.work.ReportResults(r.client, request)
	return err
}

func print(value object) string {
	text, err := json.Marshal(value)
	must(err)
	return string(text)
}
