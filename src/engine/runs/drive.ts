// Feeds a driver until it ends: takes its steps one by one and writes each before it asks for what depends on it.

import { type Clock, over } from "../../platform/base/clock.ts";
import { Interrupt, interrupted } from "../../platform/base/interrupt.ts";
import type { RunWriter } from "../log/writer.ts";
import type { DriverEnd, DriverStep } from "./driver.ts";
import { applyEffects, type EffectTarget } from "./effects.ts";

/** A driver that was told to stop has this long to do so; what it still yields is written. */
const stopGraceDefaultMs = 5_000;

/** Undefined when the driver was told to stop and did not in time. */
export async function drive(args: {
  steps: AsyncGenerator<DriverStep, DriverEnd>;
  writer: RunWriter;
  target: EffectTarget;
  signal: AbortSignal;
  stopGraceMs?: number | undefined;
  clock: Clock;
}): Promise<DriverEnd | undefined> {
  const { steps, writer, target, signal, clock, stopGraceMs = stopGraceDefaultMs } = args;
  const graceOver = new Interrupt();
  const done = new AbortController();
  const startGrace = (): void => void waitGrace(clock, stopGraceMs, graceOver, done.signal);
  if (signal.aborted) {
    startGrace();
  } else {
    signal.addEventListener("abort", startGrace, { once: true, signal: done.signal });
  }
  try {
    for (;;) {
      const next = await graceOver.guard(steps.next());
      if (next === interrupted) {
        return undefined;
      }
      if (next.done === true) {
        return next.value;
      }
      await write(writer, target, next.value);
    }
  } finally {
    done.abort(over);
    // A driver that hangs is left behind; its generator ends when what it waits for does.
    void steps.return(leftBehind).catch(() => {});
  }
}

const leftBehind: DriverEnd = { kind: "failed", code: "runner.error", error: "left behind", retryable: false };

async function waitGrace(clock: Clock, graceMs: number, graceOver: Interrupt, done: AbortSignal): Promise<void> {
  await clock.sleep(graceMs, done);
  if (!done.aborted) {
    graceOver.fire();
  }
}

async function write(writer: RunWriter, target: EffectTarget, step: DriverStep): Promise<void> {
  if (step.kind === "append") {
    return await writer.append(step.result);
  }
  if (step.kind === "flush") {
    return await writer.flush();
  }
  await writer.commit(step.results, (trx, written) => applyEffects(trx, target, step.effects, written));
  target.transcriptLength += step.effects.transcript?.length ?? 0;
}
