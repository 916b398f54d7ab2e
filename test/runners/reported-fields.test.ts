// Results with fields that the contract has no place for: each reader gets every field, with the numbers as the runner wrote
// them.

import { expect } from "vitest";
import { RunnerWorkerService } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { readSse } from "../harness/sse.ts";
import { bind, HandWorker, readLog, start } from "./hand-worker.ts";

/** Values that a parser and printer of JSON would change. */
const exact = '{"id":9007199254740993,"p":1.0,"e":1E2,"text":"\\u00e9","none":null}';

interface Case {
  readonly type: string;
  readonly data: string;
  /** The JSON that the entry has, in the order of its fields. */
  readonly kept: readonly string[];
}

/** The members of a chunk besides its text. */
const members = (own: string) => `"role":"assistant","provider_specific_fields":${exact},"own":${own}`;

const cases: readonly Case[] = [
  // Two chunks that wait together.
  {
    type: "message.delta",
    data: `{"chunk":{${members("9007199254740993")},"content":"a"}}`,
    kept: [exact, `{${members("9007199254740993")}}`],
  },
  {
    type: "message.delta",
    data: `{"chunk":{${members("1.0")},"content":"b","msg_sequence":7,"name":null}}`,
    kept: [exact, `{${members("1.0")},"msg_sequence":7,"name":null}`],
  },
  {
    type: "message.delta",
    data: `{"chunk":{"role":"assistant","content":[{"type":"text","text":"c","own":${exact}}]}}`,
    kept: [`{"role":"assistant","content":[{"type":"text","text":"c","own":${exact}}]}`],
  },
  {
    type: "message.delta",
    data: '{"chunk":{"role":"assistant","content":"d","own":null}}',
    kept: ['{"role":"assistant","own":null}'],
  },
  {
    type: "tool.call.started",
    data: `{"tool_call_id":"c","tool_name":"n","parameters":${exact}}`,
    kept: [exact],
  },
  {
    type: "tool.call.completed",
    data: `{"tool_call_id":"c","tool_name":"n","result":${exact}}`,
    kept: [exact],
  },
  {
    type: "tool.call.started",
    data: `{"tool_call_id":"c","tool_name":"n","parameters":{},"own":${exact}}`,
    kept: [`{"tool_call_id":"c","tool_name":"n","parameters":{},"own":${exact}}`],
  },
  { type: "artifact.created", data: `{"artifact_type":"note","metadata":${exact}}`, kept: [exact] },
  { type: "state.updated", data: `{"scope":"conversation","key":"k","value":${exact}}`, kept: [exact] },
  { type: "action.requested", data: `{"action":"a","target":${exact},"payload":${exact}}`, kept: [exact, exact] },
  { type: "my.own", data: `{"own":${exact}}`, kept: [`{"own":${exact}}`] },
  {
    type: "message.completed",
    data: `{"message":{"role":"assistant","content":"abcd","own":${exact}}}`,
    kept: [`{"role":"assistant","content":"abcd","own":${exact}}`],
  },
  {
    type: "run.completed",
    data: `{"finish_reason":"stop","message":{"role":"assistant","content":"abcde","own":${exact}}}`,
    kept: [`{"role":"assistant","content":"abcde","own":${exact}}`],
  },
];

test("every reader gets every field of a result, with its numbers unchanged", async ({ service: { target, url } }) => {
  const client = new GrpcClient(target);
  const worker = new HandWorker(target);
  await worker.register();
  await bind(client);
  await start(client);
  const { runId, attempt, runToken } = await worker.take();
  const { verdicts } = await worker.client.call(RunnerWorkerService.method.reportResults, {
    ...{ runId, attempt, runToken, finished: true },
    results: cases.map(({ type, data }, index) => ({ sequence: BigInt(index + 1), type, data })),
  });
  expect(verdicts.flatMap(({ diagnostics }) => diagnostics)).toEqual(["unknown type: kept unchanged"]);

  const log = await readLog(client, runId);
  expect(log.map(jsonOf)).toEqual(cases.map(({ kept }) => kept));

  const listed = await (await fetch(`${url}/v1/runs/${runId}/results`, { headers: credentialsOf() })).text();
  const streamed: string[] = [];
  for await (const { event, data } of readSse(`${url}/v1/runs/${runId}/results:tail`)) {
    if (event === "end") {
      break;
    }
    streamed.push(data);
  }
  for (const [index, { kept }] of cases.entries()) {
    for (const json of kept) {
      expect(listed).toContain(json);
      expect(streamed[index]).toContain(json);
    }
  }
});

/** The raw JSON of an entry. */
function jsonOf({ payload }: RunResult): string[] {
  switch (payload.case) {
    case "messageDelta":
      return given(payload.value.chunk?.providerSpecificFields, payload.value.chunk?.source);
    case "messageCompleted":
    case "runCompleted":
      return given(payload.value.message?.source);
    case "toolCallStarted":
      return given(payload.value.parameters);
    case "toolCallCompleted":
      return given(payload.value.result);
    case "artifactCreated":
      return given(payload.value.metadata);
    case "stateUpdated":
      return given(payload.value.value);
    case "actionRequested":
      return given(payload.value.target, payload.value.payload);
    case "extension":
      return given(payload.value.json);
    default:
      throw new Error(`unexpected ${payload.case}`);
  }
}

function given(...texts: readonly (string | undefined)[]): string[] {
  return texts.filter((text) => text !== undefined);
}
