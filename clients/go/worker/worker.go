// Package worker connects runners to Runnel: programs that work on runs.
//
// A worker registers its runners, takes the runs that the service offers, and reports the results that they yield. It connects
// again for as long as it runs, sends again what the service did not acknowledge, and keeps the leases of silent runs. A run
// continues while its worker is away from the service.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	runnel "github.com/runnel/runnel/clients/go"
	runnerv1 "github.com/runnel/runnel/clients/go/gen/runnel/runner/v1"
)

// Options says which runners a worker has, and how many runs it takes.
type Options struct {
	// ID names the worker: the same for all processes with the same runners, and the same after a restart.
	ID      string
	Runners []Runner
	// MaxConcurrent is the maximum number of runs at a time; 0 means 10.
	MaxConcurrent int32
	// EndTimeout is how long the runs have to end when the context has ended; 0 means 10 s.
	EndTimeout time.Duration
	// OnProblem is called with errors of calls, which the worker repeats, with errors of runners, and with the first result of
	// each kind that the service dropped. It may be called concurrently. Nil ignores them.
	OnProblem func(error)
}

const (
	reconnectMin = 100 * time.Millisecond
	reconnectMax = 5 * time.Second
	// The service sends a sign of life every 15 s.
	idleMax     = 45 * time.Second
	callMax     = 30 * time.Second
	acceptDelay = 200 * time.Millisecond
	// After that an offer is void.
	offerMax = 10 * time.Second
)

// Serve works until the context ends, then waits for the runs to end. It returns nil then, and an error when the service refuses
// the credentials or a runner. It repeats everything else.
func Serve(ctx context.Context, client *runnel.Client, options Options) error {
	if options.MaxConcurrent == 0 {
		options.MaxConcurrent = 10
	}
	if options.EndTimeout == 0 {
		options.EndTimeout = 10 * time.Second
	}
	if options.OnProblem == nil {
		options.OnProblem = func(error) {}
	}
	leaving, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	w := &worker{client: client, options: options, leaving: leaving, runs: map[string]context.CancelFunc{}}
	err := w.stayConnected(ctx)
	w.endRuns(leave)
	return err
}

type worker struct {
	client  *runnel.Client
	options Options
	// leaving ends when the remaining runs are given up. Their leases end by themselves.
	leaving context.Context
	mutex   sync.Mutex
	// runs has the function that asks each run to end.
	runs map[string]context.CancelFunc
	all  sync.WaitGroup
}

// refusal is an answer of the service that waiting does not change.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// stayConnected keeps its worker session across connections, because the service sends cancels to the session that accepted.
func (w *worker) stayConnected(ctx context.Context) error {
	session := ""
	for delay := reconnectMin; ctx.Err() == nil; {
		var err error
		heard := false
		if session == "" {
			session, err = w.register(ctx)
		}
		if err == nil {
			heard, err = w.listen(ctx, session)
		}
		if refused, ok := errors.AsType[refusal](err); ok {
			return refused.error
		}
		if err != nil && ctx.Err() == nil {
			w.options.OnProblem(err)
		}
		if codeOf(err) == codes.NotFound {
			session = ""
		}
		if heard {
			delay = reconnectMin
		}
		// Not all workers of a service that was away come back at one moment.
		pause(ctx, jitter(delay))
		delay = min(2*delay, reconnectMax)
	}
	return nil
}

func (w *worker) register(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	request := &runnerv1.RegisterRunnersRequest{WorkerId: w.options.ID, Era: "4.11"}
	for _, runner := range w.options.Runners {
		manifest, err := printManifest(runner.Manifest)
		if err != nil {
			return "", refusal{err}
		}
		request.Manifests = append(request.Manifests, manifest)
	}
	response, err := w.client.Runners.RegisterRunners(ctx, request, runnel.Once())
	switch codeOf(err) {
	case codes.OK:
	case codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument:
		return "", refusal{err}
	default:
		return "", err
	}
	var problems []error
	for _, verdict := range response.GetVerdicts() {
		if !verdict.GetAccepted() {
			problems = append(problems, fmt.Errorf("%s: %s", verdict.GetRunnerId(), verdict.GetProblem()))
		}
	}
	if len(problems) > 0 {
		return "", refusal{errors.Join(problems...)}
	}
	return response.GetWorkerSessionId(), nil
}

// printManifest declares what Delta makes, unless the manifest says otherwise: chunks of new text only.
func printManifest(manifest Manifest) (string, error) {
	metadata := object{"chunk_content": "increment"}
	maps.Copy(metadata, manifest.Metadata)
	manifest.Metadata = metadata
	text, err := json.Marshal(manifest)
	if err != nil {
		return "", fmt.Errorf("the manifest of %s is not JSON: %w", manifest.ID, err)
	}
	return string(text), nil
}

// listen takes assignments until the stream ends, which it does now and then. It says whether any message arrived.
func (w *worker) listen(ctx context.Context, session string) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := time.AfterFunc(idleMax, cancel)
	defer idle.Stop()
	request := &runnerv1.ListenAssignmentsRequest{WorkerSessionId: session, MaxConcurrent: w.options.MaxConcurrent}
	stream, err := w.client.Workers.ListenAssignments(ctx, request)
	if err != nil {
		return false, err
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return heard, err
		}
		heard = true
		idle.Reset(idleMax)
		switch assignment := response.GetAssignment().(type) {
		case *runnerv1.ListenAssignmentsResponse_Offer:
			w.start(session, assignment.Offer)
		case *runnerv1.ListenAssignmentsResponse_Cancel:
			w.cancel(assignment.Cancel.GetRunId())
		case *runnerv1.ListenAssignmentsResponse_Drain:
			return heard, nil
		}
	}
}

func (w *worker) cancel(runID string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if end, ok := w.runs[runID]; ok {
		end()
	}
}

func (w *worker) start(session string, offer *runnerv1.RunOffer) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if _, ok := w.runs[offer.GetRunId()]; ok {
		return
	}
	ctx, end := context.WithCancel(w.leaving)
	w.runs[offer.GetRunId()] = end
	w.all.Go(func() {
		defer func() {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			delete(w.runs, offer.GetRunId())
			end()
		}()
		if err := w.take(ctx, end, session, offer); err != nil {
			w.options.OnProblem(err)
		}
	})
}

// endRuns asks all runs to end, and leaves those that do not.
func (w *worker) endRuns(leave context.CancelFunc) {
	w.mutex.Lock()
	for _, end := range w.runs {
		end()
	}
	w.mutex.Unlock()
	giveUp := time.AfterFunc(w.options.EndTimeout, leave)
	defer giveUp.Stop()
	w.all.Wait()
}

func (w *worker) take(ctx context.Context, end context.CancelFunc, session string, offer *runnerv1.RunOffer) error {
	runner := w.find(offer.GetRunnerId())
	if runner == nil {
		return fmt.Errorf("the service offered a run of the unknown runner %s", offer.GetRunnerId())
	}
	accepted, err := w.accept(session, offer)
	if err != nil || accepted == nil {
		return err
	}
	reporter := startReporter(w.leaving, reporterOptions{
		work:      w.client.Workers,
		runID:     offer.GetRunId(),
		attempt:   accepted.GetAttempt(),
		token:     accepted.GetRunToken(),
		end:       end,
		isEnding:  func() bool { return ctx.Err() != nil },
		onProblem: w.options.OnProblem,
	})
	host := openHost(w.client, offer.GetRunId(), accepted.GetRunToken())
	w.perform(ctx, runner, &Run{offer.GetRunId(), accepted.GetContext(), host, reporter})
	return nil
}

func (w *worker) find(id string) *Runner {
	for index := range w.options.Runners {
		if runner := &w.options.Runners[index]; runner.Manifest.ID == id {
			return runner
		}
	}
	return nil
}

// accept returns nil when another worker has the run. The service repeats an answer that was lost.
func (w *worker) accept(session string, offer *runnerv1.RunOffer) (*runnerv1.AcceptRunResponse, error) {
	ctx, cancel := context.WithTimeout(w.leaving, offerMax)
	defer cancel()
	request := &runnerv1.AcceptRunRequest{WorkerSessionId: session, RunId: offer.GetRunId(), OfferId: offer.GetOfferId()}
	for {
		accepted, err := w.client.Workers.AcceptRun(ctx, request)
		switch code := codeOf(err); {
		case code == codes.OK:
			return accepted, nil
		case code == codes.Aborted:
			return nil, nil
		case !isTransient(code) || ctx.Err() != nil:
			return nil, err
		}
		pause(ctx, acceptDelay)
	}
}

// perform waits for the runner, or until nothing that it yields counts any more.
func (w *worker) perform(ctx context.Context, runner *Runner, run *Run) {
	returned := make(chan error, 1)
	go func() { returned <- callRunner(ctx, runner, run) }()
	select {
	case <-run.reporter.over.Done():
	case err := <-returned:
		if err != nil && !errors.Is(err, ErrOver) {
			w.options.OnProblem(fmt.Errorf("run %s: %w", run.ID, err))
			code := "runner.exception"
			if ctx.Err() != nil {
				code = "cancelled"
			}
			// Does not count when the runner has yielded a terminal result before.
			_ = run.Yield(Failed(code, err.Error()))
		}
		run.reporter.finish()
	}
}

func callRunner(ctx context.Context, runner *Runner, run *Run) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the runner panicked: %v\n%s", panicked, strings.TrimSpace(string(debug.Stack())))
		}
	}()
	return runner.Run(ctx, run)
}

func codeOf(err error) codes.Code {
	if err == nil {
		return codes.OK
	}
	if failure, ok := errors.AsType[*runnel.Error](err); ok {
		return failure.Code
	}
	return codes.Unknown
}

// isTransient says whether the same call may succeed later.
func isTransient(code codes.Code) bool {
	switch code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal, codes.Unknown,
		codes.Aborted, codes.Canceled:
		return true
	default:
		return false
	}
}

func jitter(delay time.Duration) time.Duration {
	return time.Duration(float64(delay) * (0.5 + rand.Float64()))
}

func pause(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
