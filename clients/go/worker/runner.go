package worker

import (
	"context"

	runnerv1 "github.com/runnel/runnel/clients/go/gen/runnel/runner/v1"
)

// Runner is a manifest and a function that works on one run.
type Runner struct {
	Manifest Manifest
	// Run works on a run and yields its results. An error fails the run; so does a return without a terminal result. The context
	// ends when the run shall end: yield a last result within 10 s, and return. A runner that hangs longer is left behind.
	Run func(ctx context.Context, run *Run) error
}

// Manifest describes a runner, as the LangBot protocol has it (§4.2).
type Manifest struct {
	// ID is plugin:author/name/runner.
	ID string `json:"id"`
	// Name is the last part of the id.
	Name string `json:"name"`
	// Label is the display name by locale, such as {"en_US": "Greeter"}.
	Label       map[string]string `json:"label"`
	Description map[string]string `json:"description,omitempty"`
	// Capabilities are true flags such as streaming.
	Capabilities map[string]bool `json:"capabilities,omitempty"`
	// Permissions are the operations of the host that the runner asks for, such as {"models": ["stream"]}.
	Permissions map[string][]string `json:"permissions,omitempty"`
	// ConfigSchema has the fields of the configuration: objects with type and name.
	ConfigSchema []map[string]any `json:"config_schema,omitempty"`
	// Metadata has further properties. chunk_content says what chunks of messages hold: increment, the default here, or snapshot.
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Run is one run, as its runner sees it.
type Run struct {
	ID string
	// Context says all about the run.
	Context *runnerv1.AgentRunContext
	// Host has the calls of the host API, as far as Context grants them. They fill the run id by themselves.
	Host *Host

	reporter *reporter
}

// Yield reports results in order. It waits while too many are unacknowledged. It fails for a result that no host accepts, and with
// ErrOver when the run has ended.
func (r *Run) Yield(results ...Result) error {
	for _, result := range results {
		if err := r.reporter.report(result); err != nil {
			return err
		}
	}
	return nil
}

// Result is a result before the worker numbers it.
type Result struct {
	Type string
	// Data is a JSON object, of at most 2 MiB together with the usage. What is larger belongs into an artifact or the storage.
	Data  any
	Usage *Usage
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
}

type object = map[string]any

// Delta is a piece of a message while it is being written.
func Delta(content string) Result {
	return Result{Type: "message.delta", Data: object{"chunk": object{"role": "assistant", "content": content}}}
}

// Message is a whole message.
func Message(content string) Result {
	return Result{Type: "message.completed", Data: object{"message": object{"role": "assistant", "content": content}}}
}

// State is a value for the host to keep: any JSON. The scope is conversation, actor, subject or runner.
func State(scope, key string, value any) Result {
	return Result{Type: "state.updated", Data: object{"scope": scope, "key": key, "value": value}}
}

// Completed is the end of a run that went well.
func Completed() Result {
	return Result{Type: "run.completed", Data: object{"finish_reason": "stop"}}
}

// Failed is the end of a run that did not go well. The code is runner.error where programs need no other, and cancelled after a
// cancel.
func Failed(code, message string) Result {
	return Result{Type: "run.failed", Data: object{"code": code, "error": message, "retryable": false}}
}
