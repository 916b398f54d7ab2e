// Recordings of real runs give the same log again, byte by byte; a changed recording shows where it differs.

import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { printRecording, type Recording, readRecording } from "../../src/agent/replay/recording.ts";
import { replay } from "../../src/agent/replay/replay.ts";
import { encodeResult } from "../../src/engine/log/result.ts";
import { setStage } from "../conformance/stage.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { pngBase64 } from "../fakes/png.ts";
import { answer, callTools, type Script, stopAfter } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";

const functions = [{ name: "get_weather", parameters: '{"type":"object"}' }];

/** Plays the scripts as one run, after a run before it, and returns the recording. */
async function record(...scripts: readonly Script[]): Promise<Recording> {
  const { api, provider, service } = await setStage(findSurface("gRPC"));
  provider.respond(answer("before"), ...scripts);
  const tools = { builtin: ["list_dir", "read_file"], functions };
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", tools } });
  const before = await api.sendMessage({ sessionId, message: "Hi" });
  await Array.fromAsync(api.followRun(before.run_id));
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "Go" });
  await Array.fromAsync(api.followRun(runId));
  const [row] = await query<{ agent: Buffer; model: string }>(
    service.databaseUrl,
    "select session.agent, run.model from run join session on session.id = run.session where run.id = $1",
    [runId],
  );
  const rows = async (sql: string) =>
    (await query<{ bytes: Buffer }>(service.databaseUrl, sql, [runId])).map(({ bytes }) => bytes);
  const transcript = await rows(
    "select message as bytes from transcript where session = (select session from run where id = $1) order by position limit 3",
  );
  return {
    runId,
    agent: { ...fromBinary(AgentSchema, row?.agent ?? Buffer.alloc(0)), model: row?.model ?? "" },
    messages: transcript.map((bytes) => fromBinary(MessageSchema, bytes)),
    log: await rows("select payload as bytes from run_result where run_id = $1 order by sequence"),
  };
}

const withUsage: Script = (wire) => {
  wire.reasoning("hm");
  wire.text("One ");
  wire.text("two");
  wire.finish("stop");
  wire.usage({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 });
  wire.done();
};

const searched: Script = (wire) => {
  wire.delta({ executed_tools: [{ index: 0, type: "search", arguments: '{"q":"x"}', output: "found" }] });
  wire.text("It says so.");
  wire.delta({ annotations: [{ type: "url_citation", url_citation: { url: "https://example.com/a", title: "A" } }] });
  wire.done("stop");
};

const drawn: Script = (wire) => {
  const urls = [
    `data:image/png;base64,${pngBase64}`,
    `data:image/png;base64,${"A".repeat(2 ** 21)}`,
    "https://a.example/b",
  ];
  wire.delta({ content: "Here.", images: urls.map((url) => ({ type: "image_url", image_url: { url } })) });
  wire.done("stop");
};

const likely: Script = (wire) => {
  const tokens = [{ token: "One", logprob: -0.5, bytes: [79, 110, 101], top_logprobs: [{ token: "A", logprob: -1 }] }];
  wire.frame({ choices: [{ index: 0, delta: { content: "One" }, logprobs: { content: tokens } }] });
  wire.done("stop");
};

describe("the same log comes out of", () => {
  test.each<[string, readonly Script[]]>([
    ["a text with its usage and its cost", [withUsage]],
    ["a text whose usage is estimated", [answer("estimated")]],
    ["a tool that the provider runs, and the sources of the text", [searched]],
    ["a text with its log probabilities", [likely]],
    ["a text with images: in the log, too large for it, and at a URL", [drawn]],
    ["a response that reached its limit", [stopAfter("cut", "length")]],
    [
      "tools, one of them failing and one unknown",
      [
        callTools(
          { id: "c1", name: "list_dir", arguments: '{"path":"."}' },
          { id: "c2", name: "read_file", arguments: '{"file_path":"x"}' },
          { id: "c3", name: "nothing", arguments: "{}" },
        ),
        withUsage,
      ],
    ],
    [
      "calls that the loop has stopped because they repeat",
      [
        ...Array.from({ length: 6 }, (_, turn) =>
          callTools({ id: `c${turn}`, name: "list_dir", arguments: '{"path":"."}' }),
        ),
        answer("enough"),
      ],
    ],
    [
      "a call that the token limit has cut",
      [
        (wire) => {
          wire.toolCalls({ index: 0, id: "c1", name: "list_dir", arguments: '{"path": "' });
          wire.done("length");
        },
        callTools({ id: "c2", name: "list_dir", arguments: '{"path":"."}' }),
        answer("well"),
      ],
    ],
    [
      "a function of the caller beside a tool",
      [callTools({ id: "c1", name: "list_dir", arguments: "{}" }, { id: "c2", name: "get_weather", arguments: "{}" })],
    ],
  ])("%s", async (_, scripts) => {
    const recording = readRecording(printRecording(await record(...scripts)));
    const { compared, differences, isCut } = await replay(recording);
    expect(differences).toEqual([]);
    expect(compared).toBe(recording.log.length);
    expect(isCut).toBe(false);
  });
});

test("a run that failed is replayed up to its end", async () => {
  const recording = await record(callTools({ id: "c1", name: "list_dir", arguments: "{}" }), (wire) =>
    wire.reply(401, "{}"),
  );
  const { compared, differences, isCut } = await replay(recording);
  expect({ differences, isCut }).toEqual({ differences: [], isCut: true });
  expect(compared).toBe(recording.log.length - 1);
});

test("entries of a turn that began again do not count", async () => {
  const { log, ...recording } = await record(withUsage);
  const [first = Buffer.alloc(0), ...others] = log;
  const lost = encodeResult(
    { payload: { case: "messageDelta", value: { chunk: { content: "lost" } } } },
    { runId: recording.runId, sequence: 2, timeMs: 0 },
  );
  const again = encodeResult(
    { payload: { case: "turnRestarted", value: { turn: 1, fromSequence: 2n } } },
    { runId: recording.runId, sequence: 3, timeMs: 0 },
  );
  const { differences } = await replay({ ...recording, log: [first, lost.bytes, again.bytes, ...others] });
  expect(differences).toEqual([]);
});

test("a log that this version would not write differs at its place", async () => {
  const { log, ...recording } = await record(withUsage);
  const changed = encodeResult(
    { payload: { case: "turnStarted", value: { turn: 7 } } },
    { runId: recording.runId, sequence: 1, timeMs: 0 },
  );
  const { differences } = await replay({ ...recording, log: [changed.bytes, ...log.slice(1)] });
  expect(differences).toMatchObject([
    { sequence: 1, recorded: { value: { turn: 7 } }, replayed: { case: "turnStarted", value: { turn: 1 } } },
  ]);
});

test.each(["", "{}", '{"format":"runnel-recording/9"}', "[1]"])("%j is no recording", (text) => {
  expect(() => readRecording(text)).toThrow("not a recording of this version");
});
