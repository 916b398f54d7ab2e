// Metrics of models and tools that runs use.

import type { EventListeners } from "../events.ts";
import { createLabel, type Figures, longDurationBuckets, otherValue } from "./figures.ts";

const firstPartBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];
const toolBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 30, 60, 120];
const circuitStates = { closed: 0, halfOpen: 1, open: 2 } as const;

/** Registers the metrics of models and tools. */
export function countModels(
  figures: Figures,
  { toolNames }: { readonly toolNames: readonly string[] },
): EventListeners {
  const circuits = countCircuits(figures);
  return { ...circuits, ...countResponses(figures, circuits.learnProvider), ...countTools(figures, toolNames) };
}

function countResponses(
  figures: Figures,
  learnProvider: (provider: string) => void,
): Pick<EventListeners, "modelResponded"> {
  const requests = figures.counter("llm_requests_total", "Number of requests to models, by outcome.", [
    "provider",
    "code",
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
    modelResponded: ({ provider, code, durationMs, firstPartMs, promptTokens = 0, completionTokens = 0 }) => {
      learnProvider(provider);
      requests.inc({ provider, code: codeLabel(code) });
      tokens.inc({ provider, direction: "input" }, promptTokens);
      tokens.inc({ provider, direction: "output" }, completionTokens);
      durations.observe({ provider }, durationMs / 1_000);
      if (firstPartMs !== undefined) {
        firstParts.observe({ provider }, firstPartMs / 1_000);
      }
    },
  };
}

interface Circuits extends Pick<EventListeners, "circuitOpened" | "circuitHalfOpened" | "circuitClosed"> {
  /** Sets a provider that was called and has no known state to closed. */
  readonly learnProvider: (provider: string) => void;
}

function countCircuits(figures: Figures): Circuits {
  const states = figures.gauge(
    "circuit_state",
    "State of a provider's circuit breaker: 0 closed, 1 half open, 2 open.",
    { labelNames: ["provider"], aggregator: "max" },
  );
  const known = new Set<string>();
  const set = (provider: string, state: number): void => {
    known.add(provider);
    states.set({ provider }, state);
  };
  return {
    learnProvider: (provider) => {
      if (!known.has(provider)) {
        set(provider, circuitStates.closed);
      }
    },
    circuitOpened: ({ provider }) => set(provider, circuitStates.open),
    circuitHalfOpened: ({ provider }) => set(provider, circuitStates.halfOpen),
    circuitClosed: ({ provider }) => set(provider, circuitStates.closed),
  };
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
