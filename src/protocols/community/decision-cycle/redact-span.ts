// Removes secrets from model inputs and outputs on their way into a trace that records content.

import type { RunContext } from "../../../engine/runs/driver.ts";
import type { Redact } from "../decisions/redact.ts";

type Span = RunContext["span"];

/** Returns a span that redacts the inputs and outputs of the model before it records them. */
export function redactSpan(span: Span, redact: Redact): Span {
  return {
    traceParent: span.traceParent,
    startTool: (tool) => span.startTool(tool),
    end: (end) => span.end(end),
    startChat: ({ input, ...fields }) => {
      const chat = span.startChat({ ...fields, ...(input && { input: () => redact(input()) }) });
      return {
        firstPart: () => chat.firstPart(),
        end: ({ output, ...end }) => chat.end({ ...end, ...(output && { output: () => redact(output()) }) }),
      };
    },
  };
}
