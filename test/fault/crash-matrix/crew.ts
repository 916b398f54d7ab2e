// The processes of one cell: which are alive, which died at their failpoint, and which one to call.

import { GrpcClient } from "../../harness/grpc.ts";
import { environmentOfWrongClock, type ServiceProcess, startProcess } from "../../harness/process.ts";
import { until } from "../../harness/wait.ts";
import type { Act, Death } from "./acts.ts";
import { isFrozen } from "./freeze.ts";
import type { WrongClock } from "./scenarios.ts";

/** The promise is 15 s. The longer limit shows a time instead of a failure on a busy machine. */
export const patienceMs = 60_000;

export interface Member extends ServiceProcess {
  readonly client: GrpcClient;
  /** The failpoint at which it dies; undefined if it lives. */
  readonly dies: Death | undefined;
}

export class Crew {
  readonly members: Member[] = [];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #wrongClock: WrongClock | undefined;
  #isClosed = false;

  constructor(environment: Readonly<Record<string, string>>, wrongClock: WrongClock | undefined) {
    this.#environment = environment;
    this.#wrongClock = wrongClock;
  }

  /** True when the test no longer waits for the crew. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /**
   * Starts the processes of an act and returns them in its order. They start one after the other, because side by side each
   * takes too long on a busy machine; processes that die start last, because some failpoints are passed right from the start.
   */
  async startAll(act: Act): Promise<Member[]> {
    const living = act.filter((dies) => dies === undefined);
    const started: Member[] = [];
    for (const dies of [...living, ...act.filter((each) => each !== undefined)]) {
      started.push(await this.#start(dies));
    }
    return act.flatMap((dies) =>
      started.splice(
        started.findIndex((member) => member.dies === dies),
        1,
      ),
    );
  }

  /** Returns the wanted process while it lives, else the newest living one. Waits until there is one. */
  async someone(wanted?: Member): Promise<Member> {
    const find = (): Member | undefined =>
      wanted !== undefined && isAlive(wanted) ? wanted : this.members.findLast(isAlive);
    return await until("a process that lives", find, patienceMs);
  }

  /** Repeats a request at any living process until it is answered, as a caller does after a lost connection. */
  async ask<T>(
    wanted: Member | undefined,
    call: (member: Member) => Promise<T>,
    isLost: (error: unknown) => boolean,
  ): Promise<T> {
    const attempt = async (): Promise<{ answer: T } | undefined> => {
      try {
        return { answer: await call(await this.someone(wanted)) };
      } catch (error) {
        if (isLost(error)) {
          return undefined;
        }
        throw error;
      }
    };
    return (await until("an answer", attempt, patienceMs)).answer;
  }

  async #start(dies: Death | undefined): Promise<Member> {
    const failpoint = dies === undefined ? {} : { RUNNEL_FAILPOINT: dies };
    const isWrong = this.#wrongClock?.of === (dies === undefined ? "others" : "dying");
    const clock = isWrong ? environmentOfWrongClock(this.#wrongClock.minutes) : {};
    const started = await startProcess({ ...this.#environment, ...failpoint, ...clock });
    const member = { ...started, client: new GrpcClient(started.target), dies };
    this.members.push(member);
    return member;
  }
}

/** True for a process that freezes at its failpoint instead of being killed. */
export function freezes({ dies }: Member): boolean {
  return dies?.endsWith(":stop") === true;
}

/**
 * A process that never reached its failpoint. On a machine that is busy for a second its lease ends, and another process works on
 * the run; or the lease is too old for a start, and the run is queued. Such a cell shows nothing.
 */
export class Missed extends Error {}

/**
 * Resolves with the time when a process has died at its failpoint; throws if it does not die, or ends otherwise. Once `isOver`, a
 * process that has missed its failpoint is not waited for.
 */
export async function deathOf(member: Member, isOver: () => boolean): Promise<number> {
  const isDead = freezes(member) ? () => isFrozen(member) : () => !isAlive(member);
  const what = `a process to come to ${member.dies}`;
  const find = async () => ((await isDead()) ? "dead" : isOver() && hasMissed(member) && "missed");
  const found = await until(what, find, patienceMs).catch((error: Error) => {
    throw asMiss(member, error.message);
  });
  if (found === "missed") {
    throw new Missed(what);
  }
  const diedAtMs = Date.now();
  if (freezes(member)) {
    return diedAtMs;
  }
  const exitCode = await member.stop();
  if (exitCode !== null) {
    throw asMiss(member, `a process that was to be killed at ${member.dies} ended with ${exitCode}`);
  }
  return diedAtMs;
}

function asMiss(member: Member, message: string): Error {
  return hasMissed(member) ? new Missed(message) : new Error(message);
}

/** True when the machine was too busy for the plan: the run was queued, and perhaps another process took it. */
function hasMissed(member: Member): boolean {
  const log = member.log();
  const isElsewhere = log.includes("/SendMessage") && !log.includes('"run.started"');
  return isElsewhere || /"lease\.lost"|"queueWaitMs":[1-9]/.test(log);
}

export function isAlive({ pid }: ServiceProcess): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
