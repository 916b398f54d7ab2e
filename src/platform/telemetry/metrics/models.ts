// Metrics of models and tools that runs use.

import type { EventListeners } from "../events.ts";
import { createLabel, type Figures, longDurationBuckets, otherValue } from "./figures.ts";
import type { FigureSources } from "./sources.ts";

const firstPartBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];
const toolBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 30, 60, 120];
const circuitStates = { closed: 0, "half-open": 1, open: 2 } as const;

/** Registers the metrics of models and tools. */
export function countModels(
  figures: Figures,
  { toolNames, sources }: { readonly toolNames: readonly string[]; readonly sources: Partial<FigureSources> },
): EventListeners {
  countCircuits(figures, sources);
  return { ...countResponses(figures), ...countSkipped(figures), ...countTools(figures, toolNames) };
}

function countResponses(figures: Figures): Pick<EventListeners, "modelResponded"> {
  const requests = figures.counter("llm_requests_total", "Number of requests to models, by outcome.", [
    "provider",
    "code",
    "cause",
  ]);
  const tokens = figures.counter(
    "llm_tokens_total",
    "Number of tokens as providers count them, by direction: input or output.",
    ["provider", "direction"],
  );
  const firstParts = figures.histogram(
    "llm_time_to_first_part_seconds",
    "Time to the first part of a model's response, in seconds.",
    {
      buckets: firstPartBuckets,
      labelNames: ["provider"],
    },
  );
  const durations = figures.histogram(
    "llm_request_duration_seconds",
    "Time to the end of a model's response or to its failure, in seconds.",
    {
      buckets: longDurationBuckets,
      labelNames: ["provider"],
    },
  );
  const codeLabel = createLabel();
  return {
    modelResponded: ({
      provider,
      code,
      cause = "",
      durationMs,
      firstPartMs,
      promptTokens = 0,
      completionTokens = 0,
    }) => {
      requests.inc({ provider, code: codeLabel(code), cause });
      tokens.inc({ provider, direction: "input" }, promptTokens);
      tokens.inc({ provider, direction: "output" }, completionTokens);
      durations.observe({ provider }, durationMs / 1_000);
      if (firstPartMs !== undefined) {
        firstParts.observe({ provider }, firstPartMs / 1_000);
      }
    },
  };
}

function countSkipped(figures: Figures): Pick<EventListeners, "modelFramesSkipped"> {
  const skipped = figures.counter(
    "llm_frames_skipped_total",
    "Events, items and parts of models' answers that were skipped because their type is unknown.",
    ["provider", "kind"],
  );
  return {
    modelFramesSkipped: ({ provider, events, items, parts }) => {
      skipped.inc({ provider, kind: "event" }, events);
      skipped.inc({ provider, kind: "item" }, items);
      skipped.inc({ provider, kind: "part" }, parts);
    },
  };
}

function countCircuits(figures: Figures, sources: Partial<FigureSources>): void {
  figures.gauge("circuit_state", "State of a provider's worst circuit breaker: 0 closed, 1 half open, 2 open.", {
    labelNames: ["provider"],
    aggregator: "max",
    collect: (gauge) => {
      for (const { provider, state } of sources.readCircuits?.() ?? []) {
        gauge.set({ provider }, circuitStates[state]);
      }
    },
  });
}

function countTools(figures: Figures, toolNames: readonly string[]): Pick<EventListeners, "toolFinished"> {
  const calls = figures.counter(
    "tool_calls_total",
    "Tool calls that are over; `other` are tools that do not come with the service.",
    ["tool", "outcome"],
  );
  const durations = figures.histogram("tool_duration_seconds", "Duration of a tool call, in seconds.", {
    buckets: toolBuckets,
    labelNames: ["tool"],
  });
  // A model may call tools that do not exist.
  const known = new Set(toolNames);
  const outcomeLabel = createLabel();
  return {
    toolFinished: ({ tool, outcome, durationMs }) => {
      const label = known.has(tool) ? tool : otherValue;
      calls.inc({ tool: label, outcome: outcomeLabel(outcome) });
      durations.observe({ tool: label }, durationMs / 1_000);
    },
  };
}
