// Runs a driver until it ends. Takes its steps one by one, and writes each before asking for the next step.

import { type Clock, over } from "../../platform/base/clock.ts";
import { Interrupt, interrupted } from "../../platform/base/interrupt.ts";
import type { RunWriter } from "../log/writer.ts";
import type { DriverEnd, DriverStep, RunContext } from "./driver.ts";
import { applyEffects, type EffectTarget } from "./effects.ts";

/** How long a driver may take to stop; steps that it yields until then are written. */
const stopGraceDefaultMs = 5_000;

/**
 * Runs a driver and writes its steps. Returns its end; undefined when it did not stop in time. Throws when the driver throws or
 * the run is lost.
 */
export async function drive(args: {
  run: (tryAppend: RunContext["tryAppend"]) => AsyncGenerator<DriverStep, DriverEnd>;
  writer: RunWriter;
  target: EffectTarget;
  signal: AbortSignal;
  stopGraceMs?: number | undefined;
  clock: Clock;
}): Promise<DriverEnd | undefined> {
  const { run, writer, target, signal, clock, stopGraceMs = stopGraceDefaultMs } = args;
  // Only while a step is awaited: everything that was yielded before is in the log, and an abandoned driver writes nothing.
  let isAsked = false;
  const steps = run((result) => isAsked && writer.tryAppend(result));
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
      isAsked = true;
      const next = await graceOver.guard(steps.next());
      isAsked = false;
      if (next === interrupted) {
        return undefined;
      }
      if (next.done === true) {
        return next.value;
      }
      await write(writer, target, next.value);
    }
  } finally {
    isAsked = false;
    done.abort(over);
    // A hanging driver is abandoned; its generator ends when its pending promise settles.
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
