// Two keys: what one client has is to the other as if it were not there. Each answer about a foreign id is that about an unknown one.

import { expect, test } from "vitest";
import { completed, type Run } from "../../clients/typescript/src/worker/runner.ts";
import { answer } from "../fakes/provider.ts";
import { ask, eventsOf, LegacyClient, type Message, offer, send, setMcpStage, tasks } from "./stage.ts";

const capabilities = { elicitation: {}, ...tasks };
const stranger = { capabilities, clientId: "stranger" };

test("resources, tasks and sessions of another key are absent in every method", async () => {
  const { service, provider } = await setMcpStage();
  const [ofOwner, ofStranger] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await offer(service, {
    slow: async function* ({ signal }: Run) {
      const made = { artifact_id: "a1", mime_type: "text/plain", content_base64: "aGk=", size_bytes: 2 };
      yield { type: "artifact.created", data: { artifact_type: "file", ...made } };
      signal.addEventListener("abort", () => ofOwner.resolve());
      await ofOwner.promise;
      yield completed("done");
    },
  });
  provider.respond(answer("hello"), async (wire, request) => {
    await ofStranger.promise;
    await answer("mine")(wire, request);
  });
  const { url } = service;
  const start = async (name: string, options: object): Promise<Message["result"]> =>
    (await ask(url, "tools/call", { name, arguments: { message: "go" } }, options)).result;
  const sessionId = (await start("default", {})).structuredContent.session_id;
  const { taskId } = await start("slow", { capabilities });
  const { taskId: own } = await start("default", stranger);
  const methods: readonly (readonly [method: string, id: string, paramsOf: (id: string) => object, works: object])[] = [
    ["resources/read", taskId, (id) => ({ uri: `runnel://runs/${id}/log` }), { contents: [{}] }],
    ["resources/read", taskId, (id) => ({ uri: `runnel://runs/${id}/artifacts/a1` }), { contents: [{ text: "hi" }] }],
    ["tasks/update", taskId, (id) => ({ taskId: id, inputResponses: {} }), {}],
    ["tasks/get", taskId, (id) => ({ taskId: id }), { status: "working" }],
    ["tasks/cancel", taskId, (id) => ({ taskId: id }), {}],
    ["subscriptions/listen", taskId, (id) => ({ notifications: { taskIds: [id] } }), {}],
    ["tools/call", sessionId, (id) => ({ name: "default", arguments: { message: "x", session_id: id } }), {}],
  ];
  const absent = crypto.randomUUID();
  for (const [method, known, paramsOf] of methods) {
    const tell = async (id: string): Promise<string> => {
      const { result, error } = await ask(url, method, paramsOf(id), stranger);
      expect([method, error !== undefined || result.isError === true]).toEqual([method, true]);
      return JSON.stringify([result, error]).replaceAll(id, "ID");
    };
    expect([method, await tell(known)]).toEqual([method, await tell(absent)]);
  }
  const listed = await ask(url, "resources/list", {}, stranger);
  expect(listed.result.resources).toMatchObject([{ uri: `runnel://runs/${own}/log` }]);
  const notifications = { taskIds: [own] };
  const events = eventsOf(await send(url, "subscriptions/listen", { notifications }, stranger));
  const read = async () => JSON.parse((await events.next()).value?.data ?? "null").params;
  expect((await read()).notifications).toEqual({ taskIds: [own] });
  for (const [method, known, paramsOf, works] of methods.slice(0, -2)) {
    const { result } = await ask(url, method, paramsOf(known), { capabilities });
    expect([method, result]).toMatchObject([method, works]);
  }
  // The owner's task has changed before that of the stranger, whose stream tells of one.
  ofStranger.resolve();
  for (let params = await read(); params.status !== "completed"; params = await read()) {
    expect(params.taskId).toBe(own);
  }
  await events.return(undefined);
});

test("a session of an older client takes no stream of another key", async () => {
  const { service, provider } = await setMcpStage();
  provider.respond(answer("done"));
  const owner = new LegacyClient(service.url);
  await owner.open();
  const call = { id: 1, method: "tools/call", params: { name: "default", arguments: { message: "go" } } };
  const [first] = await Array.fromAsync(eventsOf(await owner.post(call)));
  expect(first?.id).toMatch(/\.0$/);
  const other = new LegacyClient(service.url, "stranger");
  await other.open();
  const tell = async (place: string | undefined) => {
    const response = await other.get(place);
    return [response.status, await response.text()];
  };
  expect(await tell(first?.id)).toEqual(await tell(`${crypto.randomUUID()}.0`));
});
