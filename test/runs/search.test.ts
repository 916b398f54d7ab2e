// Search in the texts of runs: which words are found, by whom, and that a deletion leaves none.

import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { TextLoop } from "../../src/engine/search/text-loop.ts";
import { endOfRun, startWithProvider } from "../conformance/stage.ts";
import { answer, callTools, type Script } from "../fakes/provider.ts";
import { keyOf } from "../harness/credentials.ts";
import { query, testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { openHolder } from "../harness/holder.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { addRun, LocalWakeup, openStore } from "../runlog/store.ts";

const { createSession, sendMessage, deleteSession, purgeSession } = SessionService.method;
const { searchRuns, getRun, deleteRun } = RunService.method;

async function setStage(...scripts: readonly Script[]) {
  const { provider, service, client } = await startWithProvider();
  provider.respond(...scripts);
  const run = async (message: string, { agent = {}, annotations = "", sessionId = "" } = {}) => {
    const session = sessionId || (await client.call(createSession, { agent: { name: "tester", ...agent } })).sessionId;
    const { runId } = await client.call(sendMessage, { sessionId: session, message, annotations });
    await endOfRun(client, runId);
    return { sessionId: session, runId };
  };
  const find = async (words: string, filters: object = {}): Promise<string[]> =>
    (await client.call(searchRuns, { query: words, ...filters })).matches.map((match) => match.run?.runId ?? "");
  const found = async (words: string, ...runIds: readonly string[]): Promise<void> => {
    await until(`${words} to be found`, async () => (await find(words)).toString() === runIds.toString());
  };
  return { provider, service, client, run, find, found };
}

test("words are found in messages, results of tools, outputs and errors, each with the words marked", async () => {
  const { client, run, find, found } = await setStage(
    callTools({ id: "one", name: "write_file", arguments: '{"file_path":"heron.txt","content":"x"}' }),
    answer("The osprey dives.\n\n<b>Kingfisher</b> & co."),
    (wire) => wire.reply(401, '{"error":{"message":"no such pelican"}}'),
  );
  const first = await run("Where does the Ibis live? 白鷺", { agent: { tools: { builtin: ["write_file"] } } });
  const second = await run("Bittern?");
  for (const words of [
    "ibis",
    "OSPREY dives",
    "heron.txt",
    "wrote bytes",
    '"osprey DIVES"',
    "ibis osprey -pelican",
    "鷺",
  ]) {
    await found(words, first.runId);
  }
  await found("pelican", second.runId);
  expect(await find("ibis or bittern")).toEqual([second.runId, first.runId]);
  expect(await find("osprey pelican")).toEqual([]);
  const { matches } = await client.call(searchRuns, { query: "kingfisher" });
  const parts = matches[0]?.snippet.map(({ text, isMatch }) => [text, isMatch]) ?? [];
  expect(parts).toContainEqual(["Kingfisher", true]);
  expect(parts.map(([text]) => text).join("")).toContain("<b>Kingfisher</b>");
  expect(matches[0]?.run).toMatchObject({ runId: first.runId, agentName: "tester" });
});

test("a run is found while it works, and its answer after its end", async () => {
  const gate = Promise.withResolvers<void>();
  const { client, find, found } = await setStage(async (wire) => {
    await gate.promise;
    wire.text("A late lapwing.");
    wire.done("stop");
  });
  const { sessionId } = await client.call(createSession, { agent: { name: "slow" } });
  const { runId } = await client.call(sendMessage, { sessionId, message: "Which wader?" });
  await found("wader", runId);
  expect(await find("lapwing")).toEqual([]);
  gate.resolve();
  await found("lapwing wader", runId);
});

test("filters narrow a search, pages follow each other, and no client finds the runs of another", async () => {
  const { service, client, run, find, found } = await setStage(...Array.from({ length: 4 }, () => answer("plover")));
  const one = await run("1", { annotations: '{"team":"red","odd":"\\u0000"}' });
  const two = await run("2", { agent: { name: "editor" }, annotations: '{"team":"red","n":7}' });
  const three = await run("3", { sessionId: two.sessionId });
  await found("plover", three.runId, two.runId, one.runId);
  expect(await find("plover", { agentName: "editor" })).toEqual([three.runId, two.runId]);
  expect(await find("plover", { sessionId: one.sessionId })).toEqual([one.runId]);
  expect(await find("plover", { annotation: "team=red" })).toEqual([two.runId]);
  expect(await find("plover", { annotation: "n=7" })).toEqual([two.runId]);
  const { run: last } = await client.call(getRun, { runId: three.runId });
  expect(await find("plover", { createTimeFrom: last?.createTime })).toEqual([three.runId]);
  expect(await find("plover", { createTimeTo: last?.createTime })).toEqual([two.runId, one.runId]);
  const page = await client.call(searchRuns, { query: "plover", pageSize: 2 });
  const next = { query: "plover", pageSize: 2, pageToken: page.nextPageToken };
  expect((await client.call(searchRuns, next)).matches.map((match) => match.run?.runId)).toEqual([one.runId]);
  await expect(client.call(searchRuns, { ...next, query: "other" })).rejects.toMatchObject({ code: 3 });
  await expect(client.call(searchRuns, { query: " -!? " })).rejects.toMatchObject({
    details: "invalid query: must have a word: letters or digits",
  });
  await expect(client.call(searchRuns, { query: "plover", annotation: "team" })).rejects.toThrow(
    /a name, =, and a value/,
  );
  const stranger = new GrpcClient(service.target, { authorization: `Bearer ${keyOf("stranger")}` });
  expect((await stranger.call(searchRuns, { query: "plover" })).matches).toEqual([]);
});

test("a deleted run, a deleted session and a purged one leave no text", async () => {
  const { service, client, run, found } = await setStage(...Array.from({ length: 4 }, () => answer("dunlin")));
  const [one, two, three, four] = [await run("1"), await run("2"), await run("3"), await run("4")];
  await found("dunlin", four.runId, three.runId, two.runId, one.runId);
  await client.call(deleteRun, { runId: one.runId });
  await found("dunlin", four.runId, three.runId, two.runId);
  await client.call(deleteSession, { sessionId: two.sessionId });
  await found("dunlin", four.runId, three.runId);
  await client.call(purgeSession, { sessionId: three.sessionId });
  await found("dunlin", four.runId);
  // A pass after the deletions writes none of them again.
  const later = await run("A redshank.");
  await found("redshank", later.runId);
  const texts = await query<{ run_id: string }>(service.databaseUrl, "select run_id from run_text order by run_id");
  expect(texts.map(({ run_id: id }) => id)).toEqual([four.runId, later.runId]);
});

test("the answer of a run that ends between the read and the write of its text is found", async () => {
  const { provider, service, client, find } = await setStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (...wire) => {
    await gate.promise;
    await answer("A godwit.")(...wire);
  });
  const { awaited, holder, release } = await openHolder(service.databaseUrl);
  await holder.query("lock table run_text in share row exclusive mode");
  const { sessionId } = await client.call(createSession, { agent: { name: "tester" } });
  const { runId } = await client.call(sendMessage, { sessionId, message: "Which bird?" });
  await awaited(1);
  gate.resolve();
  await endOfRun(client, runId);
  await release();
  await until("the answer to be found", async () => (await find("godwit")).includes(runId), 30_000);
});

test("a write of a text that waits for the session holds no run, because deletions lock sessions first", async () => {
  const { service, run, found } = await setStage(answer("A twite."), answer("A siskin."));
  const first = await run("Which bird?");
  await found("twite", first.runId);
  const { awaited, holder, release } = await openHolder(service.databaseUrl);
  await holder.query("update run_text set is_final = false");
  await holder.query("commit; begin; select from session for no key update");
  const second = await run("And that?");
  await awaited(1);
  expect(await query(service.databaseUrl, "select from run for update nowait")).toHaveLength(2);
  await release();
  await found("siskin", second.runId);
});

test("a pass that fails is made again soon, and not after the rest of an idle service", async () => {
  const { service, run, find } = await setStage(answer("A whimbrel."));
  // Sequences do not roll back, so the first write alone fails.
  await query(
    service.databaseUrl,
    `create sequence tries;
    create function fail_once() returns trigger language plpgsql as $$
      begin if nextval('tries') = 1 then raise 'not now'; end if; return new; end $$;
    create trigger fail_once before insert on run_text for each row execute function fail_once()`,
  );
  const { runId } = await run("Which bird?");
  // Half of the rest of an idle loop.
  await until("the run to be found", async () => (await find("whimbrel")).includes(runId), 30_000);
  expect(await query(service.databaseUrl, "select from tries where last_value > 1")).toHaveLength(1);
});

/** A loop whose passes begin when the test moves the clock. */
async function openLoop() {
  const { db } = await openStore();
  const clock = createManualClock({ nowMs: Date.now() });
  const wakeup = new LocalWakeup();
  const loop = new TextLoop({ db, clock, wakeup, events: { databaseTroubled: () => {} } });
  loop.open();
  onTestFinished(() => loop.close());
  await clock.slept(1);
  const hasText = async ({ id }: { id: string }): Promise<boolean> =>
    (await sql`select from run_text where run_id = ${id}`.execute(db)).rows.length === 1;
  let passes = 1;
  const pass = async (afterMs: number): Promise<void> => {
    clock.advance(afterMs);
    passes += 1;
    await clock.slept(passes);
  };
  const news = (): void => wakeup.publish({ topic: "session", key: "", value: 0 });
  return { db, wakeup, hasText, pass, news };
}

test("a loop that rests looks again after a gap in its wake-ups", async () => {
  const { db, wakeup, hasText, pass } = await openLoop();
  await pass(2_000);
  const run = await addRun(db);
  wakeup.gap();
  await until("the text", () => hasText(run));
});

test("a pass looks at the runs since the pass before, and each half minute and before a rest at those that committed late", async () => {
  const { db, hasText, pass, news } = await openLoop();
  const late = await addRun(db, { ageMs: 20_000 });
  const run = await addRun(db);
  news();
  await pass(2_000);
  expect([await hasText(run), await hasText(late)]).toEqual([true, false]);
  news();
  await pass(28_000);
  expect(await hasText(late)).toBe(true);
  const later = await addRun(db, { ageMs: 20_000 });
  news();
  await pass(2_000);
  expect(await hasText(later)).toBe(false);
  await pass(2_000);
  expect(await hasText(later)).toBe(true);
});

test("without the setting no text is kept and a search is refused; with it again, the runs of before are found", async () => {
  const databaseUrl = await testDatabase();
  const off = await startService({ databaseUrl, runsSearch: false });
  const client = new GrpcClient(off.target);
  await expect(client.call(searchRuns, { query: "dotterel" })).rejects.toThrow(/runs\.search is off/);
  const { sessionId } = await client.call(createSession, { agent: { name: "tester", model: "demo" } });
  const { runId } = await client.call(sendMessage, { sessionId, message: "words=1 pace=0 dotterel" });
  await endOfRun(client, runId);
  expect(await query(databaseUrl, "select from run_text")).toHaveLength(0);
  await off.close();
  const on = await startService({ databaseUrl });
  const again = new GrpcClient(on.target);
  await until("the run of before", async () => {
    const { matches } = await again.call(searchRuns, { query: "dotterel" });
    return matches[0]?.run?.runId === runId;
  });
});
