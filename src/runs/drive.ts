// Feeds a driver until it ends: takes its steps one by one and writes each before it asks for what depends on it.

import type { Clock } from "../base/clock.ts";
import type { RunWriter } from "../runlog/writer.ts";
import type { DriverEnd, DriverStep } from "./driver.ts";
import { applyEffects, type EffectTarget } from "./effects.ts";

/** A driver that was told to stop has this long to do so; what it still yields is written. */
const stopGraceMs = 5_000;

/** Undefined when the driver was told to stop and did not in time. */
export async function drive(args: {
  steps: AsyncGenerator<DriverStep, DriverEnd>;
  writer: RunWriter;
  target: EffectTarget;
  signal: AbortSignal;
  clock: Clock;
}): Promise<DriverEnd | undefined> {
  const { steps, writer, target, signal } = args;
  const done = new AbortController();
  const graceOver = waitGrace(args.clock, signal, done.signal);
  try {
    for (;;) {
      const next = await Promise.race([steps.next(), graceOver]);
      if (next === "grace over") return undefined;
      if (next.done === true) return next.value;
      await write(writer, target, next.value);
    }
  } finally {
    done.abort();
    // A driver that hangs is left behind; its generator ends when what it waits for does.
    void steps
      .return?.({ kind: "failed", code: "runner.error", error: "left behind", retryable: false })
      .catch(() => {});
  }
}

async function write(writer: RunWriter, target: EffectTarget, step: DriverStep): Promise<void> {
  if (step.kind === "append") return await writer.append(step.result);
  await writer.commit(step.results, (trx, sequences) => applyEffects(trx, target, step.effects, sequences));
}

/** Resolves some time after the signal aborted, or never when the driver is done before. */
async function waitGrace(clock: Clock, signal: AbortSignal, done: AbortSignal): Promise<"grace over"> {
  await aborted(AbortSignal.any([signal, done]));
  if (!done.aborted) await clock.sleep(stopGraceMs, done);
  return "grace over";
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
