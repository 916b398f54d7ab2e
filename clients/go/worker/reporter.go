package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	runnel "github.com/runnel/runnel/clients/go"
	runnerv1 "github.com/runnel/runnel/clients/go/gen/runnel/runner/v1"
)

// ErrOver is the error of Yield when the run has ended, or belongs to another worker. No further result counts.
var ErrOver = errors.New("the run has ended")

const (
	// Below the limits of a report.
	reportItemsMax = 200
	reportBytesMax = 1_000_000
	// The protocol allows this for one result.
	resultBytesMax = 2 << 20
	// Results that may wait before their runner does.
	waitingMax = 1_000
	// A third of the lease.
	renewAfter = 10 * time.Second
	retryMin   = 100 * time.Millisecond
	retryMax   = 2 * time.Second
)

// reporter reports the results of one run in order. Results that arrive while a report is on its way go with the next one. A
// report without an answer is sent again as it was: the service counts each number once.
type reporter struct {
	options reporterOptions
	// over ends when nothing counts any more.
	over    context.Context
	setOver context.CancelFunc

	mutex    sync.Mutex
	sequence int64
	isClosed bool
	waiting  chan *runnerv1.ReportedResult

	// held is the result that did not fit into the last report.
	held  *runnerv1.ReportedResult
	noted map[string]bool
	done  chan struct{}
}

type reporterOptions struct {
	work    runnerv1.RunnerWorkerServiceClient
	runID   string
	attempt int32
	token   string
	// end asks the runner to end.
	end       context.CancelFunc
	isEnding  func() bool
	onProblem func(error)
}

func startReporter(leaving context.Context, options reporterOptions) *reporter {
	over, setOver := context.WithCancel(leaving)
	r := &reporter{
		options: options, over: over, setOver: setOver, noted: map[string]bool{}, done: make(chan struct{}),
		waiting: make(chan *runnerv1.ReportedResult, waitingMax),
	}
	go r.work()
	return r
}

// report returns when the runner may go on: at once, unless too much is waiting.
func (r *reporter) report(result Result) error {
	item, err := printResult(result)
	if err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.isClosed || r.over.Err() != nil {
		return ErrOver
	}
	item.Sequence = r.sequence + 1
	select {
	case r.waiting <- item:
		r.sequence++
		return nil
	case <-r.over.Done():
		return ErrOver
	}
}

// finish returns when everything is acknowledged, or nothing counts any more.
func (r *reporter) finish() {
	r.mutex.Lock()
	r.isClosed = true
	close(r.waiting)
	r.mutex.Unlock()
	<-r.done
}

func (r *reporter) work() {
	defer close(r.done)
	defer r.setOver()
	for r.over.Err() == nil {
		items, isLast := r.takeBatch()
		if r.over.Err() == nil {
			r.send(items, isLast)
		}
		if isLast {
			return
		}
	}
}

// takeBatch waits for the first item, but not longer than the lease allows. It says whether the runner has ended.
func (r *reporter) takeBatch() (items []*runnerv1.ReportedResult, isLast bool) {
	size := 0
	if r.held == nil {
		renew := time.NewTimer(renewAfter)
		defer renew.Stop()
		select {
		case item, ok := <-r.waiting:
			if !ok {
				return nil, true
			}
			r.held = item
		case <-renew.C:
			return nil, false
		case <-r.over.Done():
			return nil, false
		}
	}
	for {
		size += len(r.held.GetData()) + len(r.held.GetUsage())
		if len(items) > 0 && (size > reportBytesMax || len(items) == reportItemsMax) {
			return items, false
		}
		items = append(items, r.held)
		r.held = nil
		select {
		case item, ok := <-r.waiting:
			if !ok {
				return items, true
			}
			r.held = item
		default:
			return items, false
		}
	}
}

func (r *reporter) send(items []*runnerv1.ReportedResult, isLast bool) {
	request := &runnerv1.ReportResultsRequest{
		RunId: r.options.runID, Attempt: r.options.attempt, RunToken: r.options.token, Results: items, Finished: isLast,
	}
	for delay := retryMin; r.over.Err() == nil; delay = min(2*delay, retryMax) {
		response, err := r.sendOnce(request)
		if err == nil {
			r.note(response.GetVerdicts())
			if response.GetCancelRequested() || response.GetEnded() {
				r.options.end()
			}
			if response.GetEnded() {
				r.setOver()
			}
			return
		}
		if r.over.Err() == nil {
			r.options.onProblem(err)
		}
		if !isTransient(codeOf(err)) {
			r.options.end()
			r.setOver()
			return
		}
		pause(r.over, jitter(delay))
	}
}

func (r *reporter) sendOnce(request *runnerv1.ReportResultsRequest) (*runnerv1.ReportResultsResponse, error) {
	ctx, cancel := context.WithTimeout(r.over, callMax)
	defer cancel()
	return r.options.work.ReportResults(ctx, request, runnel.Once())
}

// note passes on the first result of each kind that was dropped, refused or odd.
func (r *reporter) note(verdicts []*runnerv1.ResultVerdict) {
	for _, verdict := range verdicts {
		kind := verdict.GetDisposition().String() + " " + verdict.GetType()
		// The host decides how a cancelled run ends.
		isCancelled := verdict.GetType() == "run.failed" && r.options.isEnding()
		if isCancelled || r.noted[kind] || (isOrdinary(verdict.GetDisposition()) && len(verdict.GetDiagnostics()) == 0) {
			continue
		}
		r.noted[kind] = true
		name := strings.ToLower(strings.TrimPrefix(verdict.GetDisposition().String(), "RESULT_DISPOSITION_"))
		r.options.onProblem(fmt.Errorf("run %s: result %d (%s) %s: %s", r.options.runID, verdict.GetSequence(),
			verdict.GetType(), name, strings.Join(verdict.GetDiagnostics(), "; ")))
	}
}

func isOrdinary(disposition runnerv1.ResultDisposition) bool {
	switch disposition {
	case runnerv1.ResultDisposition_RESULT_DISPOSITION_APPLIED,
		runnerv1.ResultDisposition_RESULT_DISPOSITION_TELEMETRY,
		runnerv1.ResultDisposition_RESULT_DISPOSITION_DROPPED_DUPLICATE:
		return true
	default:
		return false
	}
}

func printResult(result Result) (*runnerv1.ReportedResult, error) {
	data, err := printJSON(result.Data)
	if err != nil {
		return nil, fmt.Errorf("the data of a %s is not JSON: %w", result.Type, err)
	}
	item := &runnerv1.ReportedResult{Type: result.Type, Data: data}
	if result.Usage != nil {
		usage, err := printJSON(result.Usage)
		if err != nil {
			return nil, err
		}
		item.Usage = &usage
	}
	if size := len(data) + len(item.GetUsage()); size > resultBytesMax {
		return nil, fmt.Errorf("a %s of %d bytes: a result has at most %d", result.Type, size, resultBytesMax)
	}
	return item, nil
}

// printJSON leaves <, > and & as they are, because readers get the text.
func printJSON(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSpace(text.String()), nil
}
