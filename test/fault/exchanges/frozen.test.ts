// A process that is frozen between the note that a command begins and the command itself, and thaws when another one has long
// done it: the workspace is no log, so nobody but the process itself can keep it from doing it once more.

import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { filesBelow } from "../../exchanges/execute/stage.ts";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { Area } from "../../tools/area.ts";
import { openCluster } from "../cluster.ts";
import { comeBack, isFrozen, thaw } from "../crash-matrix/freeze.ts";
import { expectInvariants } from "../invariants.ts";
import { Person, runPosition } from "./person.ts";

test.each([
  ["CREATE_FILE", 1],
  ["EDIT_FILE", 2],
  ["DELETE_FILE", 3],
  ["RUN_COMMAND", runPosition],
])("a %s is not executed by a process that thaws before it", async (_name, position) => {
  const area = new Area();
  onTestFinished(() => area[Symbol.dispose]());
  area.write("old.txt", "of yesterday\n");
  area.giveToSession();
  const cluster = await openCluster();
  const frozen = await cluster.start({ RUNNEL_FAILPOINT: `command.begun:${position}:stop` });
  const cut = new Person(area.root);
  const waiting = cut.converse(frozen.client).catch(() => {});
  await until("the process to freeze", () => isFrozen(frozen));
  const other = await cluster.start();
  const person = new Person(area.root);
  await person.converse(other.client);
  // Somebody has made the file again meanwhile.
  area.write("old.txt", "of today\n");
  const after = filesBelow(area.root);
  await using leases = await holdLeases(cluster.databaseUrl);
  await thaw(frozen, [other]);
  await leases.asked();
  expect(filesBelow(area.root)).toEqual(after);
  await leases[Symbol.asyncDispose]();
  await comeBack(frozen);
  await waiting;
  expect(filesBelow(area.root)).toEqual(after);
  // What it was told by either process is the same.
  await cut.converse(frozen.client);
  expect(["answer 1", "outbox 2", "answer 2"].map((what) => cut.told(what))).toEqual(
    ["answer 1", "outbox 2", "answer 2"].map((what) => person.told(what)),
  );
  await expectInvariants(cluster.databaseUrl);
});

interface HeldLeases extends AsyncDisposable {
  /** Resolves when the process that works on the run wants to write. */
  asked(): Promise<void>;
}

/** Nobody learns whether its lease still holds: what a process that thaws does first, it does without asking. */
async function holdLeases(databaseUrl: string): Promise<HeldLeases> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query("begin; lock table replica in access exclusive mode");
  let ending: Promise<void> | undefined;
  const isAsked = async (): Promise<boolean> => {
    const waiting = await query(
      databaseUrl,
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like '%lease_until > now() for key share%'`,
    );
    return waiting.length > 0;
  };
  return {
    asked: async () => {
      await until("the thawed process to want to write", isAsked);
    },
    [Symbol.asyncDispose]: () => {
      ending ??= holder.end();
      return ending;
    },
  };
}
