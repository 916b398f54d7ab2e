// Removes secrets from a model's answer on its way into the log. It passes whole lines, since a secret may be split over
// pieces.

import type { ResultInit } from "../../../engine/log/result.ts";
import type { DriverStep } from "../../../engine/runs/driver.ts";
import type { Redact } from "../decisions/redact.ts";

/** Redacts the text, the reasoning and the provider's own calls of the steps. Returns what the steps return. */
export async function* redactSteps<T>(
  steps: AsyncGenerator<DriverStep, T>,
  redact: Redact,
  turn: number,
): AsyncGenerator<DriverStep, T> {
  const text = new Lines(redact);
  const thoughts = new Lines(redact);
  try {
    for (;;) {
      const next = await steps.next();
      if (next.done === true) {
        yield* show(text.rest(), thoughts.rest(), turn);
        return next.value;
      }
      const step = next.value.kind === "commit" ? redactCalls(next.value, redact) : next.value;
      const payload = step.kind === "append" ? step.result.payload : undefined;
      if (payload?.case === "messageDelta") {
        yield* show(text.add(payload.value.chunk?.content ?? ""), "", turn);
      } else if (payload?.case === "reasoningDelta") {
        yield* show("", thoughts.add(payload.value.content ?? ""), turn);
      } else {
        yield step;
      }
    }
  } finally {
    await steps.return(undefined as T);
  }
}

/** Tools that a provider runs are written with their results, as JSON. A redacted text is still JSON. */
function redactCalls(step: Extract<DriverStep, { kind: "commit" }>, redact: Redact): DriverStep {
  const results = step.results.map((result): ResultInit => {
    const { payload } = result;
    if (payload?.case === "toolCallStarted") {
      const value = { ...payload.value, parameters: redact(payload.value.parameters ?? "") };
      return { ...result, payload: { ...payload, value } };
    }
    if (payload?.case === "toolCallCompleted") {
      const { result: found, error } = payload.value;
      const outcome = error === undefined ? { result: redact(found ?? "") } : { error: redact(error) };
      return { ...result, payload: { ...payload, value: { ...payload.value, ...outcome } } };
    }
    return result;
  });
  return { ...step, results };
}

/** Passes whole lines, and holds a partial line until it ends. */
class Lines {
  readonly #redact: Redact;
  #held = "";

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  add(piece: string): string {
    const end = piece.lastIndexOf("\n") + 1;
    if (end === 0) {
      this.#held += piece;
      return "";
    }
    const whole = this.#held + piece.slice(0, end);
    this.#held = piece.slice(end);
    return this.#redact(whole);
  }

  rest(): string {
    const rest = this.#redact(this.#held);
    this.#held = "";
    return rest;
  }
}

function* show(text: string, thoughts: string, turn: number): Generator<DriverStep> {
  if (thoughts !== "") {
    yield { kind: "append", result: { payload: { case: "reasoningDelta", value: { content: thoughts } } } };
  }
  if (text !== "") {
    const value = { chunk: { role: "assistant", content: text, msgSequence: turn } };
    yield { kind: "append", result: { payload: { case: "messageDelta", value } } };
  }
}
