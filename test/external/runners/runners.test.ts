// Runners in other languages, as programs against a real service: the same conversation in each leaves the same log.

import { beforeAll, describe, expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { finish, openTalk, plain } from "./service.ts";
import { go, goModule, pythonClient, pythonInstalled, pythonOfEra, typescript } from "./workers.ts";

const plugins = [pythonOfEra("spec"), pythonOfEra("ledger"), pythonOfEra("4.11"), pythonInstalled];
const languages = [typescript, go, goModule, pythonClient, ...plugins];

const prepareMaxMs = 300_000;

describe.each(languages.filter(({ isHere }) => isHere))("a runner in $name", (language) => {
  beforeAll(() => language.prepare(), prepareMaxMs);

  test("has a conversation, which is the same in every language", async () => {
    const talk = await openTalk(language);
    const first = await talk.say("hello words=4 pace=0");
    expect(plain(first.log)).toEqual(expected(language.hasArtifacts, "message 1, after 1 items: ", 1, 3));
    // Its state and the history are there in the next turn.
    const second = await talk.say("again words=4 pace=0");
    expect(plain(second.log)).toEqual(expected(language.hasArtifacts, "message 2, after 3 items: ", 2, 3));
    expect(second.run).toMatchObject({ state: Run_State.COMPLETED });
  });

  test("learns of a cancel in the middle of a model's answer, and sends the last message", async () => {
    const talk = await openTalk(language);
    const runId = await talk.start("slowly words=3 pace=60000");
    await talk.cancel(runId, 2);
    const { run, log } = await finish(talk.client, runId);
    expect(run).toMatchObject({ state: Run_State.CANCELLED, failureCode: "cancelled" });
    // A terminal result of the host has no number of the runner.
    expect(log.map(({ payload, runnerSequence }) => [payload.case, runnerSequence])).toEqual([
      ["messageDelta", 1n],
      ["messageDelta", 2n],
      ["runFailed", 3n],
    ]);
    // The worker continues.
    expect((await talk.say("hello words=1 pace=0")).run).toMatchObject({ state: Run_State.COMPLETED });
  });

  test("learns of a cancel while it waits idle", async () => {
    const talk = await openTalk(language);
    const runId = await talk.start("wait");
    await talk.cancel(runId, 1);
    const { run, log } = await finish(talk.client, runId);
    expect(run).toMatchObject({ state: Run_State.CANCELLED, output: "waiting" });
    expect(log.map(({ runnerSequence }) => runnerSequence)).toEqual([1n, 2n]);
  });

  test("gets the documented code for a tool that it was not granted", async () => {
    const talk = await openTalk(language);
    const { run, log } = await talk.say("forbidden");
    expect(run).toMatchObject({ state: Run_State.FAILED, failureCode: "unauthorized" });
    expect(plain(log)).toEqual([
      '{"sequence":"1","runnerSequence":"1",' +
        '"runFailed":{"code":"unauthorized","error":"call of the tool is not granted to this run"}}',
    ]);
  });
});

/** The log of a conversation whose model answers four words. */
function expected(hasArtifacts: boolean, opening: string, count: number, promptTokens: number): string[] {
  const words = ["This ", "is ", "the ", "demo "];
  const text = words.join("");
  const payloads = [
    ...[opening, ...words].map((content) => ({ messageDelta: { chunk: { role: "assistant", content } } })),
    { stateUpdated: { scope: "SCOPE_CONVERSATION", key: "count", value: `${count}` } },
    ...(hasArtifacts ? [{ artifactCreated: noteOf(count) }] : []),
    { messageCompleted: { message: { role: "assistant", text } } },
  ];
  const usage = { promptTokens: `${promptTokens}`, completionTokens: "4", totalTokens: `${promptTokens + 4}` };
  const end = { runCompleted: { finishReason: "stop", message: { role: "assistant", text } } };
  return [
    ...payloads.map((payload, index) => entry(index + 1, {}, payload)),
    entry(payloads.length + 1, { usage }, end),
  ];
}

function entry(number: number, usage: object, payload: object): string {
  return JSON.stringify({ sequence: `${number}`, ...usage, runnerSequence: `${number}`, ...payload });
}

function noteOf(count: number): object {
  return {
    artifactType: "note",
    artifactId: `note-${count}`,
    mimeType: "text/plain",
    name: "note.txt",
    sizeBytes: "17",
    sha256: "3fabc30c906206d2230287e7d5162d8890a062dca9597e6b7593c749f4e196db",
  };
}
