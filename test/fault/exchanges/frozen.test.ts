// A process freezes between the note that a command begins and the command itself, and thaws long after another process has
// executed it. The workspace is not a log, so only the process itself can avoid executing it again.

import { expect, onTestFinished, test } from "vitest";
import { filesBelow } from "../../exchanges/execute/stage.ts";
import { until } from "../../harness/wait.ts";
import { Area } from "../../tools/area.ts";
import { openCluster } from "../cluster.ts";
import { comeBack, isFrozen, thaw } from "../crash-matrix/freeze.ts";
import { holdLeases } from "../held-leases.ts";
import { expectInvariants } from "../invariants.ts";
import { runPosition, ScriptedUser } from "./scripted-user.ts";

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
  const cut = new ScriptedUser(area.root);
  const waiting = cut.converse(frozen.client).catch(() => {});
  await until("the process to freeze", () => isFrozen(frozen));
  const other = await cluster.start();
  const person = new ScriptedUser(area.root);
  await person.converse(other.client);
  // The file was created again meanwhile.
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
  // Both processes gave the person the same answers.
  await cut.converse(frozen.client);
  expect(["answer 1", "outbox 2", "answer 2"].map((what) => cut.told(what))).toEqual(
    ["answer 1", "outbox 2", "answer 2"].map((what) => person.told(what)),
  );
  await expectInvariants(cluster.databaseUrl);
});
