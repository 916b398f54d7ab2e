// Removes secrets from a model's answer on its way into the log. It passes whole lines, since a secret may be split over
// pieces.

import type { DriverStep } from "../../../engine/runs/driver.ts";
import type { Redact } from "../decisions/redact.ts";

/** Redacts the text and the reasoning of the steps. Returns what the steps return. */
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
      const payload = next.value.kind === "append" ? next.value.result.payload : undefined;
      if (payload?.case === "messageDelta") {
        yield* show(text.add(payload.value.chunk?.content ?? ""), "", turn);
      } else if (payload?.case === "reasoningDelta") {
        yield* show("", thoughts.add(payload.value.content ?? ""), turn);
      } else {
        yield next.value;
      }
    }
  } finally {
    await steps.return(undefined as T);
  }
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
