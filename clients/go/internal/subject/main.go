// The subject of the conformance kit for clients: test/clients/README.md specifies its request and its answers.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	runnel "github.com/runnel/runnel/clients/go"
	runnelv1 "github.com/runnel/runnel/clients/go/gen/runnel/v1"
)

type request struct {
	URL           string            `json:"url"`
	Credentials   credentials       `json:"credentials"`
	Call          string            `json:"call"`
	TimeoutMS     *int64            `json:"timeout_ms"`
	IdleTimeoutMS *int64            `json:"idle_timeout_ms"`
	CancelAfter   *int              `json:"cancel_after"`
	RunID         string            `json:"run_id"`
	After         int64             `json:"after"`
	SessionID     string            `json:"session_id"`
	Message       string            `json:"message"`
	RequestID     string            `json:"request_id"`
	Secret        string            `json:"secret"`
	Headers       map[string]string `json:"headers"`
	Body          []byte            `json:"body"`
	NowMS         int64             `json:"now_ms"`
	Receipt       []byte            `json:"receipt"`
	Results       [][]byte          `json:"results"`
	PublicKey     []byte            `json:"public_key"`
}

type credentials struct {
	APIKey   string `json:"api_key"`
	ClientID string `json:"client_id"`
	Secret   string `json:"secret"`
	Ticket   string `json:"ticket"`
}

type object = map[string]any

func main() {
	line, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	var wanted request
	if len(line) == 0 || json.Unmarshal(bytes.TrimSpace(line), &wanted) != nil {
		log.Fatalf("the request is not a line of JSON: %v", err)
	}
	if err := wanted.answer(); err != nil {
		printLine("error", describe(err))
	}
}

func (r request) answer() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if r.TimeoutMS != nil {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*r.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	switch r.Call {
	case "callback":
		return r.valid(r.verifyCallback())
	case "receipt":
		return r.valid(r.verifyReceipt())
	}
	client, err := r.connect()
	if err != nil {
		return err
	}
	defer client.Close()
	if r.CancelAfter != nil && *r.CancelAfter == 0 {
		cancel()
	}
	switch r.Call {
	case "follow":
		return r.follow(client.Follow(ctx, r.RunID, r.After), cancel)
	case "ask":
		return r.follow(client.Ask(ctx, r.SessionID, r.Message, add), cancel)
	case "send":
		run, err := client.Sessions.SendMessage(ctx, &runnelv1.SendMessageRequest{
			SessionId: r.SessionID, Message: r.Message, RequestId: r.RequestID,
		})
		if err == nil {
			printLine("run", object{"run_id": run.GetRunId()})
		}
		return err
	default:
		log.Fatalf("unknown call %q", r.Call)
		return nil
	}
}

func (r request) connect() (*runnel.Client, error) {
	var options []runnel.Option
	if r.IdleTimeoutMS != nil {
		options = append(options, runnel.WithIdleTimeout(time.Duration(*r.IdleTimeoutMS)*time.Millisecond))
	}
	var chosen runnel.Credentials
	switch given := r.Credentials; {
	case given.APIKey != "":
		chosen = runnel.APIKey(given.APIKey)
	case given.Ticket != "":
		chosen = runnel.Ticket(given.Ticket)
	case given.Secret != "":
		chosen = runnel.Signature(given.ClientID, given.Secret)
	}
	return runnel.Connect(r.URL, chosen, options...)
}

func (r request) follow(results iter.Seq2[*runnelv1.RunResult, error], cancel context.CancelFunc) error {
	var text runnel.Text
	var end *runnel.End
	count := 0
	for result, err := range results {
		if err != nil {
			return err
		}
		printLine("result", object{"sequence": result.GetSequence(), "type": runnel.TypeOf(result)})
		text.Add(result)
		end = runnel.EndOf(result)
		count++
		if r.CancelAfter != nil && count == *r.CancelAfter {
			cancel()
		}
	}
	if end == nil {
		return &runnel.Error{Code: codes.Internal, Message: "the results ended without a terminal one"}
	}
	state := strings.ToLower(strings.TrimPrefix(end.State.String(), "STATE_"))
	printLine("end", object{"state": state, "text": text.String(), "output": end.Output})
	return nil
}

var add = runnel.Function{
	Name:        "add",
	Description: "Adds two integers.",
	Parameters:  `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`,
	Call: func(_ context.Context, arguments json.RawMessage) (string, error) {
		var numbers struct{ A, B int }
		if err := json.Unmarshal(arguments, &numbers); err != nil {
			return "", err
		}
		return fmt.Sprint(numbers.A + numbers.B), nil
	},
}

func (r request) verifyCallback() error {
	header := http.Header{}
	for name, value := range r.Headers {
		header.Set(name, value)
	}
	return runnel.VerifyCallback(r.Secret, header, r.Body, time.UnixMilli(r.NowMS))
}

func (r request) verifyReceipt() error {
	receipt := &runnelv1.GetReceiptResponse{}
	if err := proto.Unmarshal(r.Receipt, receipt); err != nil {
		return err
	}
	_, err := runnel.VerifyReceipt(receipt, r.Results, ed25519.PublicKey(r.PublicKey))
	return err
}

func (r request) valid(err error) error {
	if err == nil {
		fmt.Println(`{"valid": true}`)
	}
	return err
}

func describe(err error) object {
	var failure *runnel.Error
	if !errors.As(err, &failure) {
		log.Fatalf("not an error of the library: %v", err)
	}
	violations := []object{}
	for _, each := range failure.Violations {
		violations = append(violations, object{"field": each.Field, "description": each.Description})
	}
	return object{
		"code": codeNames[failure.Code], "reason": failure.Reason, "metadata": failure.Metadata,
		"message": failure.Message, "violations": violations,
	}
}

var codeNames = map[codes.Code]string{
	codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
	codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.OutOfRange: "OUT_OF_RANGE",
	codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE",
	codes.DataLoss: "DATA_LOSS", codes.Unauthenticated: "UNAUTHENTICATED",
}

func printLine(name string, value any) {
	line, err := json.Marshal(object{name: value})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}
