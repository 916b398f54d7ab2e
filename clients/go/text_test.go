package runnel_test

import (
	"testing"

	runnel "github.com/runnel/runnel/clients/go"
	runnelv1 "github.com/runnel/runnel/clients/go/gen/runnel/v1"
)

func delta(text string) *runnelv1.RunResult {
	chunk := &runnelv1.MessageChunk{Content: text}
	return &runnelv1.RunResult{Payload: &runnelv1.RunResult_MessageDelta{MessageDelta: &runnelv1.MessageDelta{Chunk: chunk}}}
}

func revised(text string) *runnelv1.RunResult {
	result := delta(text)
	result.GetMessageDelta().Chunk.ReplacesText = true
	return result
}

func completed() *runnelv1.RunResult {
	return &runnelv1.RunResult{Payload: &runnelv1.RunResult_MessageCompleted{}}
}

func restarted(from int64) *runnelv1.RunResult {
	turn := &runnelv1.TurnRestarted{FromSequence: from}
	return &runnelv1.RunResult{Payload: &runnelv1.RunResult_TurnRestarted{TurnRestarted: turn}}
}

func TestText(t *testing.T) {
	for name, test := range map[string]struct {
		results []*runnelv1.RunResult
		want    string
	}{
		"joins the pieces": {[]*runnelv1.RunResult{delta("a"), delta("b")}, "ab"},
		"keeps earlier turns when a turn restarts": {
			[]*runnelv1.RunResult{delta("a"), completed(), delta("b"), restarted(3), delta("c")}, "ac",
		},
		"drops more when a turn restarts twice": {
			[]*runnelv1.RunResult{delta("a"), delta("b"), restarted(2), delta("c"), restarted(2), delta("d")}, "ad",
		},
		"replaces the message that its runner revised": {
			[]*runnelv1.RunResult{delta("a"), completed(), delta("b"), revised("c")}, "ac",
		},
		"forgets the end of a void message": {
			[]*runnelv1.RunResult{delta("a"), completed(), restarted(2), revised("b")}, "b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text runnel.Text
			for index, result := range test.results {
				result.Sequence = int64(index + 1)
				text.Add(result)
			}
			if text.String() != test.want {
				t.Errorf("the text is %q, not %q", text.String(), test.want)
			}
		})
	}
}

func TestTextOfTheNextRun(t *testing.T) {
	var text runnel.Text
	for _, runID := range []string{"one", "two"} {
		result := delta(runID)
		result.RunId, result.Sequence = runID, 1
		text.Add(result)
	}
	if text.String() != "two" {
		t.Errorf("the text is %q, not that of the last run", text.String())
	}
}
