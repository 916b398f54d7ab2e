// One command from its start to the end of its last process.
// C1: it ends at its time limit, at any other limit, or when the run is stopped; nothing of it goes on afterwards.
// C2: what it writes is read to the end, and kept up to a cap.

import { constants } from "node:os";
import { type Clock, over } from "../../base/clock.ts";
import { CallTimeout } from "../call.ts";
import { Capture } from "./capture.ts";
import type { Launched } from "./launch.ts";
import type { KillLimit } from "./limits.ts";
import type { CommandEnd, Exit, NotStarted } from "./outcome.ts";
import type { PassedLimit } from "./watch.ts";

export interface CommandOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told once of a command that is killed. */
  readonly onKilled?: ((limit: KillLimit) => void) | undefined;
  /** Looks after the command until the signal aborts; calls `onLimit` to have it killed. */
  readonly watch?: (ended: AbortSignal, onLimit: (passed: PassedLimit) => void) => Promise<void>;
}

export async function followCommand(launched: Launched, options: CommandOptions): Promise<CommandEnd | NotStarted> {
  const { child } = launched;
  const [stdout, stderr] = [child.stdout, child.stderr];
  if (stdout === null || stderr === null) {
    throw new Error("a command was launched without pipes");
  }
  const captured = { stdout: new Capture(stdout), stderr: new Capture(stderr) };
  const end = await untilOver(launched, options);
  if ("problem" in end) {
    return end;
  }
  const output = { stdout: captured.stdout.read(), stderr: captured.stderr.read() };
  if (!launched.hasStarted() && !end.isKilled) {
    const [line = ""] = output.stderr.text.trim().split("\n");
    return { problem: line || `the launcher ended with ${end.code}` };
  }
  return { ...output, exit: exitOf(launched, end), limit: end.limit };
}

interface Over {
  readonly code: number;
  readonly isKilled: boolean;
  readonly limit: string | undefined;
}

async function untilOver(launched: Launched, options: CommandOptions): Promise<Over | NotStarted> {
  const { clock, timeoutMs, signal, onKilled, watch } = options;
  let isKilled = false;
  let limit: string | undefined;
  const kill = (why: KillLimit): void => {
    if (!isKilled) {
      onKilled?.(why);
    }
    isKilled = true;
    launched.kill();
  };
  const stop = (): void => kill(limitOf(signal.reason));
  const ended = new AbortController();
  const closed = untilClosed(launched).finally(() => ended.abort(over));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) {
    stop();
  }
  try {
    const watching = watch?.(ended.signal, (passed) => {
      limit = passed.words;
      kill(passed.limit);
    });
    await clock.sleep(timeoutMs, ended.signal);
    if (!ended.signal.aborted) {
      kill("time");
    }
    const end = await closed;
    await watching;
    return "problem" in end ? end : { ...end, isKilled, limit };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The time of the call may be over before that of the command, which may ask for more. */
function limitOf(reason: unknown): KillLimit {
  return reason instanceof CallTimeout ? "time" : "run_end";
}

/** What shells add to the number of the signal that ended a process. */
const signalStatus = 128;
const { SIGKILL } = constants.signals;

function exitOf(launched: Launched, { code, isKilled }: Over): Exit {
  if (isKilled) {
    return { signal: SIGKILL };
  }
  return launched.wasSignalled() ? { signal: code - signalStatus } : { status: code };
}

/** Resolves once the process is gone and its output read to the end. */
function untilClosed({ child }: Launched): Promise<{ readonly code: number } | NotStarted> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ problem: error.message }));
    child.once("close", (code, name) =>
      resolve({ code: code ?? signalStatus + (name ? constants.signals[name] : SIGKILL) }),
    );
  });
}
