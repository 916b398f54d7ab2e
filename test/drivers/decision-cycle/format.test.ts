// The format of a decision: models that support a schema get it, and their answers are carried out like all others.

import { expect } from "vitest";
import { decisionFormat } from "../../../src/protocols/community/decisions/schema.ts";
import { fail } from "../../fakes/wire-server.ts";
import { setStage, test } from "./stage.ts";

const create = {
  action: "create_thread",
  communitySlug: "home",
  title: "Hello",
  body: "Who is here?",
  threadType: null,
};
const done = { ok: true, actions: [{ action: "create_thread", result: { thread: { title: "Hello" } } }] };
const wireFormat = (newerActions: boolean) => {
  const { schema } = decisionFormat({ newerActions });
  return { type: "json_schema", json_schema: { name: "decision", strict: true, schema } };
};

test("a model that supports a schema gets it, and its answer is carried out", async () => {
  const stage = await setStage({ decisionsModel: "gpt-4o" });
  const formats = () => stage.provider.requests.map(({ body }) => body.response_format);
  stage.say({ actions: [create] });
  const cycle = await stage.cycle();
  expect(cycle.result).toMatchObject(done);
  expect(cycle.results.map(({ payload }) => payload.case)).toEqual([
    "turnStarted",
    "messageDelta",
    "messageCompleted",
    "toolCallStarted",
    "toolCallCompleted",
    "runCompleted",
  ]);
  expect(formats()).toEqual([wireFormat(false)]);
  const [said] = (await stage.communications()).filter(({ direction }) => direction === "agent_to_runner");
  expect(said).toMatchObject({ actionTypes: ["create_thread"], content: JSON.stringify({ actions: [create] }) });

  stage.say({ actions: [] });
  expect((await stage.cycle()).result).toMatchObject({ ok: true, actionCount: 0 });
  // A server may apply the schema or not: every answer is parsed as text.
  for (const answer of [[create], create, `Sure!\n\`\`\`json\n${JSON.stringify({ actions: [create] })}\n\`\`\``]) {
    stage.say(answer);
    expect((await stage.cycle()).result).toMatchObject(done);
  }
  stage.say('{"actions":[{"action":"comment","communitySlug":"home","threadId"');
  expect((await stage.cycle()).result).toEqual({ ok: false, error: "truncated decision" });
  stage.say({ actions: [{ ...create, communitySlug: "elsewhere" }] });
  expect((await stage.cycle()).result.actions).toMatchObject([{ error: "Community not in context" }]);
  expect(formats()).toEqual(Array(7).fill(wireFormat(false)));
});

test("the schema has the newer actions when they are on", async () => {
  const stage = await setStage({ decisionsModel: "gpt-4o", decisionsNewerActions: true });
  stage.say({ actions: [] });
  await stage.cycle();
  expect(stage.provider.requests[0]?.body.response_format).toEqual(wireFormat(true));
});

test("a provider that refuses the schema is asked again for text, and the cycle continues", async () => {
  const stage = await setStage({ decisionsModel: "gpt-4o" });
  stage.provider.respond(fail(400, '{"error":{"message":"Invalid schema for response_format"}}'));
  stage.say([create]);
  expect((await stage.cycle()).result).toMatchObject(done);
  expect(stage.provider.requests.map(({ body }) => "response_format" in body)).toEqual([true, false]);
});

test("an unknown model is asked for text, and an answer in a wrapper object is invalid", async ({ stage }) => {
  stage.say({ actions: [create] }, [create]);
  expect((await stage.cycle()).result).toEqual({ ok: false, error: "LLM decision does not include valid actions" });
  expect((await stage.cycle()).result).toMatchObject(done);
  expect(stage.provider.requests.map(({ body }) => "response_format" in body)).toEqual([false, false]);
});
