// Runs a driver until it ends. Takes its steps one by one, and writes each before asking for the next step.

import { type Clock, over } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Interrupt, interrupted } from "../../platform/base/interrupt.ts";
import type { RunWriter } from "../log/writer.ts";
import type { DriverEnd, DriverStep, RunContext } from "./driver.ts";
import { applyEffects, type EffectTarget } from "./effects.ts";

/** How long a driver may take to stop; steps that it yields until then are written. */
const stopGraceDefaultMs = 5_000;

/** What the steps of a driver change. */
export interface DriveTarget extends EffectTarget {
  /** The sequence of the last result that the newest checkpoint covers. */
  coveredSequence: number;
}

/**
 * Runs a driver and writes its steps. Returns its end; undefined when it did not stop in time. Throws when the driver throws or
 * the run is lost.
 */
export async function drive(args: {
  run: (tryAppend: RunContext["tryAppend"]) => AsyncGenerator<DriverStep, DriverEnd>;
  writer: RunWriter;
  target: DriveTarget;
  signal: AbortSignal;
  stopGraceMs?: number | undefined;
  clock: Clock;
  /** Called after the commit of a step that starts child runs. */
  onChildren: () => void;
}): Promise<DriverEnd | undefined> {
  const { run, writer, target, signal, clock, stopGraceMs = stopGraceDefaultMs, onChildren } = args;
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
      if (next.value.kind === "commit" && next.value.effects.children !== undefined) {
        failpoint("children.committed");
        onChildren();
      }
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

/** Tells readers to discard the output of a turn that begins again. */
export async function announceRestart(
  writer: RunWriter,
  { coveredSequence }: DriveTarget,
  turn: number,
): Promise<void> {
  const value = { turn, fromSequence: BigInt(coveredSequence + 1) };
  await writer.append({ payload: { case: "turnRestarted", value } });
}

async function write(writer: RunWriter, target: DriveTarget, step: DriverStep): Promise<void> {
  if (step.kind === "append") {
    return await writer.append(step.result);
  }
  if (step.kind === "flush") {
    return await writer.flush();
  }
  if (step.kind === "restart") {
    return await announceRestart(writer, target, step.turn);
  }
  let { coveredSequence } = target;
  await writer.commit(step.results, async (trx, written) => {
    await applyEffects(trx, target, step.effects, written);
    coveredSequence = step.effects.checkpoint === undefined ? coveredSequence : written.chain.count;
  });
  target.coveredSequence = coveredSequence;
  target.transcriptLength += step.effects.transcript?.length ?? 0;
}
