// Plays one cell: processes start, one after another dies at its failpoint, and a caller and readers continue throughout. A
// frozen process continues after the others have given it up.

import { until } from "../../harness/wait.ts";
import { actsOf, homesOf } from "./acts.ts";
import { Caller, type Sent } from "./caller.ts";
import { checkHistory } from "./checks.ts";
import { type Crew, deathOf, freezes, isAlive, type Member, Missed, patienceMs } from "./crew.ts";
import { comeBack, thaw } from "./freeze.ts";
import { openReading, type Reading, readToEnd } from "./reading.ts";
import { measureRecovery, type Recovery } from "./recovery.ts";
import { type Cell, firstSignatureOf, nameOf, type Role, scenarios } from "./scenarios.ts";
import { messageOf, openStage, type Stage } from "./stage.ts";

export interface Outcome extends Recovery {
  readonly cell: string;
  readonly kills: number;
  /** Processes that were stopped for longer than their lease and then continued. */
  readonly freezes: number;
  readonly tookMs: number;
  /** Violations, with the end of each process's log; empty when everything holds. */
  readonly violations: readonly string[];
}

/** A cell in which the failpoint was never reached is played again, this often at most. */
const attemptsMax = 3;

/** Every error after the stage is open counts as a violation, except a miss that is played again. */
export async function playCell(cell: Cell, attempt = 1): Promise<Outcome> {
  const startedMs = performance.now();
  const stage = await openStage(cell);
  let recovery: Recovery = {};
  let violations: readonly string[] = [];
  try {
    recovery = await play(cell, stage, { mayMiss: attempt < attemptsMax });
  } catch (error) {
    if (error instanceof Missed && attempt < attemptsMax) {
      stage.crew.close();
      await Promise.all(stage.crew.members.map((member) => member.kill()));
      return await playCell(cell, attempt + 1);
    }
    violations = [messageOfError(error), ...stage.crew.members.map(describe)];
  }
  const dead = stage.crew.members.filter(({ dies }) => dies !== undefined);
  const frozen = dead.filter(freezes).length;
  const tookMs = Math.round(performance.now() - startedMs);
  return { cell: nameOf(cell), kills: dead.length - frozen, freezes: frozen, tookMs, ...recovery, violations };
}

const logCharsMax = 1_500;

function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function describe({ dies, log }: Member): string {
  return `log of the process that ${dies === undefined ? "lives" : `dies at ${dies}`}: …${log().slice(-logCharsMax)}`;
}

/** With `mayMiss`, a run that is over ends the wait for a process that has missed its failpoint. */
async function play(cell: Cell, stage: Stage, { mayMiss }: { readonly mayMiss: boolean }): Promise<Recovery> {
  const { crew, provider, databaseUrl, providerKey, host } = stage;
  const { role, words, firstAnswer } = scenarios[cell.failpoint];
  const [opening = [], ...later] = actsOf(cell);
  const cast = await crew.startAll(opening);
  const homes = homesOf(cell, cast);
  const caller = new Caller({ message: messageOf(cell), firstSignature: firstSignatureOf(cell) });
  const readings: Reading[] = [];
  let isOver = false;
  const watching = watch({ cell, crew, caller, homes, readings }).then((sent) => {
    isOver = mayMiss;
    return sent;
  });
  const lastDeathOf = async (members: readonly Member[]): Promise<number> => {
    const deaths = members.filter(({ dies }) => dies !== undefined).map((member) => deathOf(member, () => isOver));
    return Math.max(0, ...(await Promise.all(deaths)));
  };
  const dying = async (): Promise<number> => {
    if (role === "leaver") {
      await until("some text", () => readings.some(({ count }) => count > resultsBeforeText), patienceMs);
      cast[0]?.signal("SIGTERM");
    }
    let diedAtMs = await lastDeathOf(cast);
    for (const act of later) {
      diedAtMs = (await lastDeathOf(await crew.startAll(act))) || diedAtMs;
    }
    await thawAll(crew, role);
    return diedAtMs;
  };
  const [sent, diedAtMs] = await Promise.all([watching, dying()]);
  const survivor = await crew.someone();
  const repeated = await caller.send(crew, survivor);
  const { members } = crew;
  const { requests } = provider;
  const history = { cell, databaseUrl, sent, repeated, readings, members, survivor, words, providerKey, host };
  await checkHistory({ ...history, modelCalls: requests.length - (firstAnswer === undefined ? 0 : 1) });
  // The test decides how long a freeze lasts.
  const isMeasured = role !== "bystander" && cell.death === "killed";
  return isMeasured ? await measureRecovery(databaseUrl, sent.runId, diedAtMs) : {};
}

/** Both turns with calls have six results each, and the third turn has begun. */
const resultsBeforeText = 14;

/** A process that was leaving exits after it thaws, all others stay. */
async function thawAll({ members }: Crew, role: Role): Promise<void> {
  for (const member of members.filter(freezes)) {
    await thaw(member, members);
    await (role === "leaver"
      ? until("the process that thawed to leave", () => !isAlive(member), patienceMs)
      : comeBack(member));
  }
}

interface Watching {
  readonly cell: Cell;
  readonly crew: Crew;
  readonly caller: Caller;
  /** Each has a reader, which moves to another process only when its home is gone. */
  readonly homes: readonly Member[];
  readonly readings: Reading[];
}

/** Sends the message and reads the run to its end at every home. */
async function watch({ cell, crew, caller, homes, readings }: Watching): Promise<Sent> {
  const sent = await caller.send(crew, homes[0]);
  let isOver = false;
  const endings = homes.map((home) => {
    const reading = openReading(cell.surface, sent.runId);
    readings.push(reading);
    return readToEnd(reading, home, crew);
  });
  const reading = Promise.all(endings).then(() => {
    isOver = true;
  });
  await Promise.all([reading, until("every reader to come to the end", () => isOver, patienceMs)]);
  return sent;
}
