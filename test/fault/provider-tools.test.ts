// kill -9 at each step of a run whose provider runs tools itself and pauses in the middle of its turn. The next process sends the
// paused response back with its exact blocks. It repeats only the response that was not committed.

import { expect, onTestFinished, test } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { onMessages } from "../fakes/anthropic-provider.ts";
import { type RecordedRequest, type Script, startWireServer, type WireServer } from "../fakes/wire-server.ts";
import { resultsThatCount } from "./log-reader.ts";
import { killAt } from "./run-over-kill.ts";

const input = '{"query":"weather, 2512292042121000001"}';
const content =
  '[{"type":"web_search_result","url":"https://weather.test","title":"Caf\\u00e9","encrypted_content":"EqgfCioIARgB","rank":1.0}]';

/** The blocks of a search as the provider writes them and wants them back. */
const blocksOf = (id: string): readonly [call: string, result: string] => [
  `{"type":"server_tool_use","id":"${id}","name":"web_search","input":${input}}`,
  `{"type":"web_search_tool_result","tool_use_id":"${id}","content":${content}}`,
];

/** The number of the response in the run, by what its request says last. */
function responseOf({ body: { messages } }: RecordedRequest): number {
  const answers = messages.filter(({ role }) => role === "assistant").length;
  return answers === 0 ? 1 : messages.at(-1)?.role === "assistant" ? 2 : 3;
}

/** A provider that searches, begins another search, pauses, ends it, calls a tool and answers. Each response has ids of its own. */
function openPausingProvider(): Promise<WireServer> {
  let requests = 0;
  /** The search that the next response of the turn ends. */
  let open = "";
  return startWireServer((request): Script => {
    requests += 1;
    const own = `srvtoolu_${requests}`;
    return onMessages((wire) => {
      let index = 0;
      const block = (json: string): void => {
        wire.raw(`data: {"type":"content_block_start","index":${index},"content_block":${json}}\n\n`);
        wire.raw(`data: {"type":"content_block_stop","index":${index}}\n\n`);
        index += 1;
      };
      wire.start();
      switch (responseOf(request)) {
        case 1: {
          const [call, result] = blocksOf(`${own}_a`);
          block('{"type":"text","text":"Let me look. "}');
          block(call);
          block(result);
          open = `${own}_b`;
          block(blocksOf(open)[0]);
          wire.stop("pause_turn");
          break;
        }
        case 2:
          block(blocksOf(open)[1]);
          block('{"type":"text","text":"Now the files."}');
          block(`{"type":"tool_use","id":"toolu_${requests}","name":"list_dir","input":{}}`);
          wire.stop("tool_use");
          break;
        default:
          block('{"type":"text","text":"Done."}');
          wire.stop("end_turn");
      }
      wire.done();
    });
  });
}

/** The ids of the provider's calls in order, each of which has its result. */
function searchesOf(results: readonly RunResult[]): string[] {
  const [started, completed] = (["toolCallStarted", "toolCallCompleted"] as const).map((name) =>
    results.flatMap(({ payload }) =>
      payload.case === name && payload.value.runByProvider ? [payload.value.toolCallId] : [],
    ),
  );
  expect(completed).toEqual(started);
  return started ?? [];
}

/** How often a run passes each place. What other places leave in the database and at the provider, one of these leaves too. */
const passes = {
  "model.calling": 3,
  "model.first-part": 3,
  "model.finished": 3,
  "batch.settled": 2,
  // The pause, the calls and their answers.
  "checkpoint.written": 3,
  // The searches and the outcome are commits too.
  "commit.committed": 6,
  "tool.starting": 1,
  "tool.ended": 1,
  "outcome.written": 1,
  "terminal.writing": 1,
};
const places = Object.entries(passes).flatMap(([name, count]) =>
  Array.from({ length: count }, (_, pass) => `${name}:${pass + 1}`),
);

test.each(places)("a turn that pauses goes on after a kill at %s", async (place) => {
  const server = await openPausingProvider();
  onTestFinished(() => server.close());
  const agent = { name: "fault", tools: { builtin: ["list_dir"] }, maxTurns: 3 };
  const { reader } = await killAt(place, agent, {
    RUNNEL_DEFAULTS_MODEL: "anthropic:claude-sonnet-4-5",
    RUNNEL_PROVIDERS_ANTHROPIC_KEY: "a-key",
    RUNNEL_PROVIDERS_ANTHROPIC_BASE_URL: `${server.origin}/v1`,
  });
  const results = resultsThatCount(reader.results);
  expect(results.at(-1)?.payload).toMatchObject({ case: "runCompleted", value: { turns: 3, finishReason: "stop" } });

  // A kill costs at most one request, and a response that is in the log is not asked for again.
  expect(server.requests.length).toBeGreaterThanOrEqual(3);
  expect(server.requests.length).toBeLessThanOrEqual(4);
  const numbers = server.requests.map((request, index) => ({ response: responseOf(request), number: index + 1 }));
  const ids = results.flatMap(({ payload }) => (payload.case === "toolCallStarted" ? [payload.value.toolCallId] : []));
  for (const { response, number } of numbers) {
    const isLost = numbers.some((other) => other.response === response && other.number > number);
    const ofResponse = ids.filter((id) => id === `toolu_${number}` || id.startsWith(`srvtoolu_${number}_`));
    expect(ofResponse).toHaveLength(isLost || response === 3 ? 0 : response === 1 ? 2 : 1);
  }

  // Every search of the log is in the last request with its exact blocks, and no other one is.
  const searches = searchesOf(results);
  expect(searches).toHaveLength(2);
  const { text } = server.requests.findLast((request) => responseOf(request) === 3) as RecordedRequest;
  expect([...text.matchAll(/"type":"server_tool_use","id":"([^"]*)"/g)].map(([, id]) => id)).toEqual(searches);
  // The service may add a mark for the cache to a block.
  const written = searches.flatMap(blocksOf).map((block) => block.slice(0, -1));
  const at = written.map((block) => text.indexOf(block));
  expect(at).not.toContain(-1);
  expect(at).toEqual(at.toSorted((one, other) => one - other));
  expect(text.split(content)).toHaveLength(searches.length + 1);
});
