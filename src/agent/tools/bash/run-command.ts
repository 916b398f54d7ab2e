// Follows one command from its start to the end of its last process.
//
// C1  The command ends at its timeout, at any other limit, or when the run is stopped. Nothing of it continues afterwards.
// C2  Its output is read to the end and kept up to a maximum.

import { constants } from "node:os";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { CallTimeout } from "../call.ts";
import { Capture } from "./capture.ts";
import type { Launched } from "./launch.ts";
import type { KillLimit } from "./limits.ts";
import type { CommandEnd, Exit, NotRun } from "./outcome.ts";
import type { PassedLimit } from "./watchdog.ts";

/** Options of `followCommand`. */
export interface CommandOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called once when the command is killed. */
  readonly onKilled?: ((limit: KillLimit) => void) | undefined;
  /** Watches the command until the signal aborts; calls `onLimit` to have it killed. */
  readonly watch?: (ended: AbortSignal, onLimit: (passed: PassedLimit) => void) => Promise<void>;
}

/** Waits for the end of a command. Kills it at its timeout, at a limit or when the signal aborts. */
export async function followCommand(launched: Launched, options: CommandOptions): Promise<CommandEnd | NotRun> {
  const { child } = launched;
  const [stdout, stderr] = [child.stdout, child.stderr];
  if (stdout === null || stderr === null) {
    throw new Error("a command was launched without pipes");
  }
  const captured = { stdout: new Capture(stdout), stderr: new Capture(stderr) };
  const end = await untilOver(launched, options);
  if ("problem" in end) {
    return notStarted(end.problem);
  }
  const output = { stdout: captured.stdout.read(), stderr: captured.stderr.read() };
  if (!launched.hasStarted() && end.killed === undefined) {
    const [line = ""] = output.stderr.text.trim().split("\n");
    return notStarted(line || `the launcher ended with ${end.code}`);
  }
  return { ...output, exit: exitOf(launched, end), killed: end.killed, limit: end.limit };
}

function notStarted(problem: string): NotRun {
  return { kind: "not_started", words: problem };
}

interface Over {
  readonly code: number;
  readonly killed: KillLimit | undefined;
  readonly limit: string | undefined;
}

interface NeverBegan {
  readonly problem: string;
}

async function untilOver(launched: Launched, options: CommandOptions): Promise<Over | NeverBegan> {
  const { clock, timeoutMs, signal, onKilled, watch } = options;
  let killed: KillLimit | undefined;
  let limit: string | undefined;
  const kill = (why: KillLimit): void => {
    if (killed === undefined) {
      onKilled?.(why);
    }
    killed ??= why;
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
    return "problem" in end ? end : { ...end, killed, limit };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The timeout of the call may pass before that of the command, because a command may ask for more. */
function limitOf(reason: unknown): KillLimit {
  return reason instanceof CallTimeout ? "time" : "run_end";
}

/** The offset that shells add to the number of the signal that ended a process. */
const signalStatus = 128;
const { SIGKILL } = constants.signals;

function exitOf(launched: Launched, { code, killed }: Over): Exit {
  if (killed !== undefined) {
    return { signal: SIGKILL };
  }
  return launched.wasSignalled() ? { signal: code - signalStatus } : { status: code };
}

/** Resolves when the process has ended and its output has been read completely. */
function untilClosed({ child }: Launched): Promise<{ readonly code: number } | NeverBegan> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ problem: error.message }));
    child.once("close", (code, name) =>
      resolve({ code: code ?? signalStatus + (name ? constants.signals[name] : SIGKILL) }),
    );
  });
}
