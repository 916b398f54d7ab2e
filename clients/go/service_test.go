package runnel_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	runnel "github.com/runnel/runnel/clients/go"
	runnelv1 "github.com/runnel/runnel/clients/go/gen/runnel/v1"
)

// connect returns a client of the service at RUNNEL_URL, whose model follows the settings in a message. RUNNEL_API_KEY is the key of
// the client RUNNEL_CLIENT_ID. Without RUNNEL_URL the test is left out: test/external/go-client.test.ts starts the service.
func connect(t *testing.T, credentials runnel.Credentials) *runnel.Client {
	t.Helper()
	url := os.Getenv("RUNNEL_URL")
	if url == "" {
		t.Skip("RUNNEL_URL is not set")
	}
	client, err := runnel.Connect(url, credentials)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func key() runnel.Credentials {
	return runnel.APIKey(os.Getenv("RUNNEL_API_KEY"))
}

func newSession(t *testing.T, client *runnel.Client) string {
	t.Helper()
	agent := &runnelv1.Agent{Name: "tests"}
	session, err := client.Sessions.CreateSession(t.Context(), &runnelv1.CreateSessionRequest{Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	return session.GetSessionId()
}

func start(t *testing.T, client *runnel.Client, message string) string {
	t.Helper()
	run, err := client.Send(t.Context(), newSession(t, client), message)
	if err != nil {
		t.Fatal(err)
	}
	return run.GetRunId()
}

func expectCode(t *testing.T, err error, code codes.Code, reason string) *runnel.Error {
	t.Helper()
	var failure *runnel.Error
	if !errors.As(err, &failure) || failure.Code != code || failure.Reason != reason {
		t.Fatalf("the error is %v, not %s (%s)", err, code, reason)
	}
	return failure
}

func TestFollowYieldsEachResultOnce(t *testing.T) {
	client := connect(t, key())
	runID := start(t, client, "n=3")
	for _, after := range []int64{0, 2} {
		var text runnel.Text
		var end *runnel.End
		next := after
		for result, err := range client.Follow(t.Context(), runID, after) {
			if err != nil {
				t.Fatal(err)
			}
			next++
			if result.GetSequence() != next {
				t.Errorf("result %d came instead of %d", result.GetSequence(), next)
			}
			text.Add(result)
			end = runnel.EndOf(result)
		}
		if end == nil || end.State != runnelv1.Run_STATE_COMPLETED || end.Output != "word0 word1 word2 " {
			t.Errorf("the run ended with %+v", end)
		}
		if after == 0 && text.String() != end.Output {
			t.Errorf("the text is %q", text.String())
		}
	}
}

func TestFollowEndsWithoutResultsAfterTheLastOne(t *testing.T) {
	client := connect(t, key())
	runID := start(t, client, "n=1")
	last := int64(0)
	for result, err := range client.Follow(t.Context(), runID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = result.GetSequence()
	}
	for result, err := range client.Follow(t.Context(), runID, last) {
		t.Errorf("it yielded %v, %v", result, err)
	}
	for _, err := range client.Follow(t.Context(), runID, last+1) {
		expectCode(t, err, codes.OutOfRange, "OFFSET_BEYOND_END")
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	client := connect(t, key())
	runID := start(t, client, "n=2 gap=60000")
	ctx, cancel := context.WithCancel(t.Context())
	var last error
	for _, err := range client.Follow(ctx, runID, 0) {
		cancel()
		last = err
	}
	expectCode(t, last, codes.Canceled, "")
	if !errors.Is(last, context.Canceled) {
		t.Errorf("errors.Is does not find the cause of %v", last)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for _, err := range client.Follow(ctx, runID, 0) {
		last = err
	}
	expectCode(t, last, codes.DeadlineExceeded, "")
	if _, err := client.Runs.CancelRun(t.Context(), &runnelv1.CancelRunRequest{RunId: runID}); err != nil {
		t.Error(err)
	}
}

func TestASilentStreamIsOpenedAgain(t *testing.T) {
	client := connect(t, key())
	runID := start(t, client, "n=2 gap=3000")
	hasty, err := runnel.Connect(os.Getenv("RUNNEL_URL"), key(), runnel.WithIdleTimeout(500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer hasty.Close()
	var text runnel.Text
	for result, err := range hasty.Follow(t.Context(), runID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		text.Add(result)
	}
	if text.String() != "word0 word1 " {
		t.Errorf("the text is %q", text.String())
	}
}

func TestAskRunsFunctions(t *testing.T) {
	client := connect(t, key())
	var seen []string
	add := runnel.Function{
		Name:       "add",
		Parameters: `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}`,
		Call: func(_ context.Context, arguments json.RawMessage) (string, error) {
			seen = append(seen, string(arguments))
			var numbers struct{ A, B int }
			if err := json.Unmarshal(arguments, &numbers); err != nil {
				return "", err
			}
			return fmt.Sprint(numbers.A + numbers.B), nil
		},
	}
	sessionID := newSession(t, client)
	var end *runnel.End
	for result, err := range client.Ask(t.Context(), sessionID, `n=2 tools=2 tool=add args={"a":2,"b":3}`, add) {
		if err != nil {
			t.Fatal(err)
		}
		end = runnel.EndOf(result)
	}
	if end == nil || end.Output != "word0 word1 " || len(seen) != 2 || seen[0] != `{"a":2,"b":3}` {
		t.Errorf("it ended with %+v after the calls %v", end, seen)
	}
	transcript, err := client.Sessions.ListMessages(t.Context(), &runnelv1.ListMessagesRequest{SessionId: sessionID})
	if err != nil {
		t.Fatal(err)
	}
	isSum := func(each *runnelv1.SessionMessage) bool {
		return each.GetMessage().GetRole() == "tool" && each.GetMessage().GetText() == "5"
	}
	if !slices.ContainsFunc(transcript.GetMessages(), isSum) {
		t.Errorf("the model never saw the sum: %v", transcript.GetMessages())
	}
}

func TestTheModelSeesTheErrorOfAFunction(t *testing.T) {
	client := connect(t, key())
	broken := runnel.Function{
		Name: "broken",
		Call: func(context.Context, json.RawMessage) (string, error) { return "", errors.New("out of paper") },
	}
	sessionID := newSession(t, client)
	for _, err := range client.Ask(t.Context(), sessionID, "tools=1 tool=broken args={}", broken) {
		if err != nil {
			t.Fatal(err)
		}
	}
	transcript, err := client.Sessions.ListMessages(t.Context(), &runnelv1.ListMessagesRequest{SessionId: sessionID})
	if err != nil {
		t.Fatal(err)
	}
	isError := func(each *runnelv1.SessionMessage) bool {
		return each.GetMessage().GetIsError() && each.GetMessage().GetText() == "out of paper"
	}
	if !slices.ContainsFunc(transcript.GetMessages(), isError) {
		t.Errorf("the model never saw the error: %v", transcript.GetMessages())
	}
}

func TestErrorsAreTyped(t *testing.T) {
	client := connect(t, key())
	const unknownRun = "01a20ece-5926-742a-8a7d-58605d6b7a1a"
	_, err := client.Runs.GetRun(t.Context(), &runnelv1.GetRunRequest{RunId: unknownRun})
	expectCode(t, err, codes.NotFound, "RUN_NOT_FOUND")
	for _, err := range client.Follow(t.Context(), unknownRun, 0) {
		expectCode(t, err, codes.NotFound, "RUN_NOT_FOUND")
	}
	_, err = client.Runs.GetRun(t.Context(), &runnelv1.GetRunRequest{RunId: "no id"})
	failure := expectCode(t, err, codes.InvalidArgument, "INVALID_ARGUMENT")
	if len(failure.Violations) != 1 || failure.Violations[0].Field != "run_id" {
		t.Errorf("the violations are %v", failure.Violations)
	}
	_, err = connect(t, runnel.APIKey("another")).Runs.ListRuns(t.Context(), &runnelv1.ListRunsRequest{})
	expectCode(t, err, codes.Unauthenticated, "TOKEN_INVALID")
}

func TestSignaturesAndTickets(t *testing.T) {
	signed := connect(t, runnel.Signature(os.Getenv("RUNNEL_CLIENT_ID"), os.Getenv("RUNNEL_API_KEY")))
	runID := start(t, signed, "n=1")
	target := &runnelv1.CreateStreamTicketRequest{Target: &runnelv1.TicketTarget{
		Target: &runnelv1.TicketTarget_RunId{RunId: runID},
	}}
	ticket, err := signed.Auth.CreateStreamTicket(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []*runnel.Client{signed, signed.As(runnel.Ticket(ticket.GetTicket()))} {
		count := 0
		for _, err := range client.Follow(t.Context(), runID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			count++
		}
		if count == 0 {
			t.Error("no result arrived")
		}
	}
	_, err = connect(t, runnel.Signature(os.Getenv("RUNNEL_CLIENT_ID"), "another")).Sessions.ListSessions(
		t.Context(), &runnelv1.ListSessionsRequest{})
	expectCode(t, err, codes.Unauthenticated, "SIGNATURE_INVALID")
}

func TestTLS(t *testing.T) {
	connect(t, key())
	authority, err := os.ReadFile(os.Getenv("RUNNEL_TLS_CA_FILE"))
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	for _, config := range []*tls.Config{{RootCAs: trusted}, nil} {
		client, err := runnel.Connect(os.Getenv("RUNNEL_TLS_URL"), key(), runnel.WithTLS(config))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = client.Sessions.ListSessions(ctx, &runnelv1.ListSessionsRequest{}, runnel.Once())
		if isTrusted := config != nil; isTrusted != (err == nil) {
			t.Errorf("with the configuration %v the call ended with %v", config, err)
		}
	}
}

func TestReceipts(t *testing.T) {
	client := connect(t, key())
	// More than a block of the hash chain.
	runID := start(t, client, "n=100 gap=2")
	var results [][]byte
	for stored, err := range client.StoredResults(t.Context(), runID) {
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, stored)
	}
	receipt, err := client.Receipts.GetReceipt(t.Context(), &runnelv1.GetReceiptRequest{RunId: runID})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := client.Receipts.GetJwks(t.Context(), &runnelv1.GetJwksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	published, err := runnel.PublicKey(keys.GetKeys()[0])
	if err != nil {
		t.Fatal(err)
	}
	statement, err := runnel.VerifyReceipt(receipt, results, published)
	if err != nil {
		t.Fatal(err)
	}
	if statement.RunID != runID || statement.Entries != len(results) || statement.Status != "completed" {
		t.Errorf("the statement is %+v", statement)
	}
	_, err = runnel.VerifyReceipt(receipt, slices.Delete(slices.Clone(results), 2, 3), published)
	failure := expectCode(t, err, codes.InvalidArgument, "LOG_MISMATCH")
	if failure.Metadata["first"] != "3" || failure.Metadata["last"] != "3" {
		t.Errorf("the bad entry is %v", failure.Metadata)
	}
}
