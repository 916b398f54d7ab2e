// The adapter for LangBot runners, case by case: what the runners of each era ask of their host, the answers, and how their
// runs end.

import { beforeAll, describe, expect, test } from "vitest";
import { ResultDisposition, RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { finish, openTalk, type Said } from "./service.ts";
import { type Era, pythonOfEra } from "./workers.ts";

const eras: readonly Era[] = ["spec", "ledger", "4.11"];
const languages = eras.map((era) => ({ era, language: pythonOfEra(era) })).filter(({ language }) => language.isHere);

/** What the runner reported in its message. */
function seenOf({ log, run }: Said): unknown {
  expect(run).toMatchObject({ state: Run_State.COMPLETED, error: "" });
  const message = log.find(({ payload }) => payload.case === "messageCompleted")?.payload;
  const fields = message?.case === "messageCompleted" ? message.value.message?.providerSpecificFields : undefined;
  return JSON.parse(fields ?? "{}").seen;
}

describe.each(languages)("era $era", ({ language }) => {
  beforeAll(() => language.prepare(), 60_000);

  test("keeps state and storage unchanged, in pieces where they are large", async () => {
    const talk = await openTalk(language);
    expect(seenOf(await talk.say("kept"))).toEqual({
      missing: { value: null, found: false },
      same: true,
      null: { value: null, found: true },
      list: { keys: ["k"], has_more: false },
      deleted: [{ success: true }, { success: false }],
      stored: true,
      empty: { value_base64: "" },
      keys: { keys: ["big", "empty"] },
      gone: "not_found",
    });
  });

  test("reads the history, artifacts and its own run through the SDK", async () => {
    const talk = await openTalk(language);
    expect(seenOf(await talk.say("read"))).toEqual({
      artifact: { content_base64: "NTY3", length: 3, offset: 995, size_bytes: 1_000, has_more: true },
      metadata: ["digits", 1_000, {}],
      run: ["running", true, true],
      event: ["message.received", "read", 1],
      found: ["read"],
      filtered: [1, 0, "unauthorized"],
      version: true,
      config: {},
      identity: "tests/talk",
    });
  });

  test("gets failures as the SDK's own handler reports them", async () => {
    const talk = await openTalk(language);
    expect(seenOf(await talk.say("refused"))).toEqual({
      "not offered": "unauthorized",
      "another run": "unauthorized",
      "no key": "invalid_argument",
      "bad number": "invalid_argument",
      "bad scope": "unauthorized",
      "bad base64": "invalid_argument",
      "not a number": "invalid_argument",
      "no such": "not_found",
      "scope not granted": "unauthorized",
      "unknown run": "unauthorized",
      "too slow": "ActionCallTimeoutError",
      "too slow stream": "ActionCallTimeoutError",
    });
  });
});

describe.each(languages.slice(0, 1))("a run", ({ language }) => {
  test("whose runner ends without a result fails with the host's code", async () => {
    const talk = await openTalk(language);
    expect((await talk.say("silent")).run).toMatchObject({ failureCode: "runner.no_terminal" });
  });

  test("whose runner raises fails with the exception, and the worker continues", async () => {
    const talk = await openTalk(language);
    const { run, log } = await talk.say("broken");
    expect(run).toMatchObject({ failureCode: "runner.exception", error: "no idea" });
    expect(log.map(({ payload }) => payload.case)).toEqual(["messageCompleted", "runFailed"]);
    expect((await talk.say("hello words=1 pace=0")).run).toMatchObject({ state: Run_State.COMPLETED });
  });

  test("survives invalid results, each of which has its verdict", async () => {
    const talk = await openTalk(language);
    const { run, runId } = await talk.say("odd");
    expect(run).toMatchObject({ state: Run_State.COMPLETED });
    const { verdicts } = await talk.client.call(RunnerService.method.listResultVerdicts, { runId });
    expect(verdicts.map(({ sequence, disposition }) => [sequence, ResultDisposition[disposition]])).toEqual([
      [1n, "DROPPED_INVALID"],
      [2n, "DROPPED_INVALID"],
      // The detail says that the run has no output.
      [3n, "APPLIED"],
    ]);
    // The run ends before the answer to the last report has reached the worker.
    const logged = await until("the last verdict in the worker's log", () => {
      const lines = talk.stderr().match(/^WARNING run .*: result .*$/gm) ?? [];
      return lines.at(-1)?.includes("run.completed") && lines;
    });
    expect(logged.map((line) => line.split(": ").slice(1).join(": "))).toEqual([
      expect.stringMatching(/^result 1 \(message\.delta\) dropped_invalid: .*run/),
      expect.stringMatching(/^result 2 \(state\.updated\) dropped_invalid: ./),
      "result 3 (run.completed) applied: empty_output",
    ]);
  });

  test("whose result is too large for any host fails with that reason", async () => {
    const talk = await openTalk(language);
    expect((await talk.say("huge")).run).toMatchObject({
      failureCode: "runner.exception",
      error: expect.stringMatching(/^a state\.updated of 30000\d\d bytes: a result has at most 2097152$/),
    });
  });

  test("of many results is reported in order", async () => {
    const talk = await openTalk(language);
    const { log } = await talk.say("many");
    expect(log.map(({ runnerSequence }) => Number(runnerSequence))).toEqual(
      Array.from({ length: 1_501 }, (_, i) => i + 1),
    );
  });

  test("ends at its deadline", async () => {
    const talk = await openTalk(language, { timeout: 1 });
    const { run } = await talk.say("slow");
    expect(run).toMatchObject({ state: Run_State.FAILED, failureCode: "runner.timeout" });
    expect((await talk.say("hello words=1 pace=0")).run).toMatchObject({ state: Run_State.COMPLETED });
  });

  test("that is cancelled still gets the last message of its runner", async () => {
    const talk = await openTalk(language);
    const runId = await talk.start("stubborn");
    await talk.cancel(runId, 1);
    const { run, log } = await finish(talk.client, runId);
    expect(run).toMatchObject({ state: Run_State.CANCELLED });
    expect(log.map(({ payload }) => payload.case)).toEqual(["messageCompleted", "messageCompleted", "runFailed"]);
  });
});

test.each(languages.slice(0, 1))("a worker with an invalid key ends with the reason", async ({ era, language }) => {
  await language.prepare();
  const { url } = await startService();
  const worker = await pythonOfEra(era, { RUNNEL_API_KEY: "wrong" }).start(url);
  const { exitCode, stderr } = await worker.finished;
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "runnel-langbot: invalid bearer token\n" });
});

test.each(languages.slice(0, 1))(
  "a run continues while its worker is disconnected from the service",
  async ({ language }) => {
    await language.prepare();
    const talk = await openTalk(language);
    const runId = await talk.start("wait");
    await talk.untilResults(runId, 1);
    talk.cutWorker();
    await talk.cancel(runId, 1);
    const { run, log } = await finish(talk.client, runId);
    expect(run).toMatchObject({ state: Run_State.CANCELLED, output: "waiting" });
    expect(log.map(({ runnerSequence }) => runnerSequence)).toEqual([1n, 2n]);
    expect((await talk.say("hello words=1 pace=0")).run).toMatchObject({ state: Run_State.COMPLETED });
  },
);
