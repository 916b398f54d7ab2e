// Images and files in conversations, over the full path: an event, a worker driven by the test, its host, and a provider that
// records its requests.

import { test as base, expect } from "vitest";
import { HostArtifactService } from "#gen/runnel/host/v1/host_artifact_service_pb.js";
import { HostHistoryService } from "#gen/runnel/host/v1/host_history_service_pb.js";
import { HostModelService } from "#gen/runnel/host/v1/host_model_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { pngBase64 } from "../fakes/png.ts";
import { openProvider } from "../fixtures.ts";
import { connect } from "../runlog/store.ts";
import { done, openWorkerStage, readLog, type Said, start } from "../runners/hand-worker.ts";

const test = base.extend("talk", () => openTalk());

const { invokeModel } = HostModelService.method;
const { pageHistory, searchHistory, getEvent } = HostHistoryService.method;
const { getArtifact, readArtifact } = HostArtifactService.method;

async function openTalk(model = "gpt-4o", flags: Partial<Config> = {}) {
  const provider = await openProvider();
  const { client, worker, hostOf, ...service } = await openWorkerStage({
    flags: { openaiBaseUrl: provider.baseUrl, openaiKey: "sk-test", ...flags },
    binding: { resourcePolicy: { allowedModels: [model] } },
  });
  /** Starts a run for an event with this input. */
  const say = async (input: object, event: object = {}) => {
    await start(client, { ...event, input });
    const run = await worker.take();
    const host = hostOf(run);
    return {
      run,
      host,
      input: JSON.parse(run.contextJson).input,
      /** Returns the content of the last message that the provider received. */
      invoke: async (...messages: readonly (object | string)[]) => {
        const texts = messages.map((message) => (typeof message === "string" ? message : JSON.stringify(message)));
        await host.call(invokeModel, { runId: run.runId, modelId: model, messages: texts });
        return provider.requests.at(-1)?.body.messages.at(-1)?.content;
      },
      history: async () =>
        (await host.call(pageHistory, { runId: run.runId })).items.map(({ contentJson = "{}" }) => contentJson),
      end: (...said: readonly Said[]) =>
        worker.report(run, Object.fromEntries([...said, done].map((each, index) => [index + 1, each]))),
    };
  };
  return { ...service, db: connect(service.databaseUrl).db, provider, client, worker, say };
}

const dataUrl = `data:image/png;base64,${pngBase64}`;
const sentImage = { type: "image_url", image_url: { url: dataUrl } };
const pngBytes = Buffer.from(pngBase64, "base64");
const pdfBase64 = Buffer.from("%PDF-1.7 tiny").toString("base64");
const question = { type: "text", text: "What is this?" };
const image = { type: "image_base64", image_base64: dataUrl };
const sentQuestion = { type: "text", text: "What is this?" };

const elements = (...parts: readonly object[]) => parts.map((part) => JSON.stringify(part));
const user = (...content: readonly object[]) => ({ role: "user", content });

test.each([
  ["gpt-4o", [sentQuestion, sentImage]],
  ["gpt-3.5-turbo", `What is this?\n[image (image/png, ${pngBytes.length} bytes): this model does not read images]`],
])("a conversation with one image stays usable for later turns with %s", async (model, sent) => {
  const { provider, say } = await openTalk(model);
  const first = await say({ contents: elements(question, image) });
  expect(await first.invoke(user(...first.input.contents))).toEqual(sent);
  await first.end(["message.completed", { message: { role: "assistant", content: "A red dot." } }]);

  const second = await say({ text: "And what colour is it?" });
  const history = await second.history();
  expect(history.join()).not.toContain(pngBase64);
  await second.invoke(...history);
  expect(provider.requests[1]?.body.messages).toEqual([
    { role: "user", content: sent },
    { role: "assistant", content: "A red dot." },
    { role: "user", content: "And what colour is it?" },
  ]);
});

test("history refers to an image as an artifact, which the runner can read", async ({ talk: { say } }) => {
  const first = await say({
    contents: elements(question, { ...image, file_name: "dot.png", more: 9007199254740993n.toString() }),
  });
  await first.end();
  const { run, host } = await say({ text: "next" });
  const { runId } = run;
  const page = await host.call(pageHistory, { runId, includeArtifacts: true });
  const [item] = page.items;
  const [, element] = JSON.parse(item?.contentJson ?? "{}").content;
  const { artifact_id: artifactId } = element;
  const reference = { artifact_id: artifactId, artifact_type: "image", mime_type: "image/png", name: "dot.png" };
  const size = pngBytes.length;
  expect(element).toEqual({
    type: "image_base64",
    file_name: "dot.png",
    more: "9007199254740993",
    ...reference,
    size,
    source: "event",
    image_url: { url: `artifact:${artifactId}` },
  });
  expect(item?.artifactRefs.map((json) => JSON.parse(json))).toEqual([{ ...reference, size, source: "event" }]);
  expect(page.items[1]?.artifactRefs).toEqual([]);
  const { items: found } = await host.call(searchHistory, { runId, query: "What is" });
  expect(found.map(({ contentJson }) => contentJson)).toEqual([item?.contentJson]);
  const { record } = await host.call(getEvent, { runId, eventId: item?.eventId ?? "" });
  expect(JSON.stringify(record, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
    pngBase64,
  );

  const { artifact } = await host.call(getArtifact, { runId, artifactId });
  expect(artifact).toMatchObject({
    artifactType: "image",
    mimeType: "image/png",
    sizeBytes: BigInt(size),
    source: "event",
  });
  expect(artifact?.runnerId).toBeUndefined();
  const pieces = await Array.fromAsync(host.stream(readArtifact, { runId, artifactId }));
  expect(pieces.map(({ content }) => Buffer.from(content))).toEqual([pngBytes]);
});

test("a reference becomes the image again, even from SDKs that drop unknown members", async ({ talk: { say } }) => {
  const file = { type: "file_base64", file_base64: pdfBase64, file_name: "a.pdf" };
  await (await say({ contents: elements(question, image, file) })).end();
  const { invoke, history } = await say({ text: "next" });
  const [first = "{}"] = await history();
  // The members that the LangBot SDK reads and writes.
  const known = ["type", "text", "image_url", "image_base64", "file_url", "file_base64", "file_name"];
  const read = (JSON.parse(first).content as Record<string, unknown>[]).map((element) =>
    Object.fromEntries(known.map((key) => [key, element[key] ?? null])),
  );
  expect(await invoke(user(...read))).toEqual([
    sentQuestion,
    sentImage,
    { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdfBase64}` } },
  ]);
});

test("an image that is both a part and an attachment is one artifact, and the model gets it once", async () => {
  const { say } = await openTalk();
  const attachment = { type: "image", name: "dot.png", content: pngBase64, id: "platform-7" };
  const first = await say({ text: "What is this?", contents: elements(image), attachments: elements(attachment) });
  await first.end();
  const { run, host, invoke, history } = await say({ text: "next" });
  const [json = "{}"] = await history();
  expect(json).not.toContain(pngBase64);
  const { content, attachments } = JSON.parse(json);
  expect(content[0]).toEqual(question);
  expect(attachments).toEqual([expect.objectContaining({ artifact_id: content[1].artifact_id, id: "platform-7" })]);
  const { items } = await host.call(pageHistory, { runId: run.runId, includeArtifacts: true });
  expect(items[0]?.artifactRefs).toHaveLength(1);
  expect(await invoke(json)).toEqual([sentQuestion, sentImage]);
  // A message may consist of an attachment only.
  expect(await invoke({ role: "user", content: "look", attachments: [attachment] })).toEqual([
    { type: "text", text: "look" },
    sentImage,
  ]);
});

test("an image in a runner's message is an artifact in history, and the log keeps the full message", async () => {
  const { client, say } = await openTalk();
  const first = await say({ text: "draw" });
  const content = [{ type: "text", text: "Here." }, image, { type: "image_base64", image_base64: "no base64!" }];
  await first.end(["message.completed", { message: { role: "assistant", content } }]);
  expect(
    JSON.stringify(await readLog(client, first.run.runId), (_, value) => (typeof value === "bigint" ? 0 : value)),
  ).toContain(pngBase64);
  const { run, host, invoke } = await say({ text: "next" });
  const { items } = await host.call(pageHistory, { runId: run.runId, includeArtifacts: true });
  const said = items.find(({ role }) => role === "assistant");
  expect(JSON.parse(said?.contentJson ?? "{}").content).toEqual([
    { type: "text", text: "Here." },
    expect.objectContaining({ type: "image_base64", source: "runner", artifact_id: expect.any(String) }),
    { type: "image_base64" },
  ]);
  expect(said?.artifactRefs).toHaveLength(1);
  const [, element] = JSON.parse(said?.contentJson ?? "{}").content;
  expect(await invoke(user(element))).toEqual([sentImage]);
  expect(await invoke(said?.contentJson ?? "", user(question))).toBe("What is this?");
});

test("an artifact that is deleted or of another conversation is replaced by a text", async ({ talk: { db, say } }) => {
  await (await say({ contents: elements(image) })).end();
  const mine = await say({ text: "next" });
  const [json = "{}"] = await mine.history();
  const [element] = JSON.parse(json).content;
  await mine.end();
  const missing = "[image: the artifact no longer exists, or belongs to another conversation]";
  const other = await say({ text: "hello" }, { conversationId: "c-2" });
  expect(await other.invoke(user(element))).toBe(missing);
  expect(await other.invoke(user({ type: "image", artifact_id: "no such", url: "https://127.0.0.1/x" }))).toBe(
    "[image (127.0.0.1): it could not be loaded: its host is not public or not trusted]",
  );
  await other.end();
  const late = await say({ text: "still there?" });
  await db
    .updateTable("artifact")
    .set({ expire_time: new Date(0) })
    .execute();
  expect(await late.invoke(user(question, element))).toBe(`What is this?\n${missing}`);
});

test("parts that models do not get are replaced by a text", async ({ talk: { say } }) => {
  const { invoke } = await say({ text: "x" });
  const content = [
    { type: "text", text: "a" },
    { type: "sticker", name: 7, url: ["wave"] },
    { type: "image_base64", image_base64: null },
    { type: "image_url", image_url: { url: "file:///etc/passwd" } },
    { type: "image_url", image_url: { url: "http://169.254.169.254/latest/meta-data" } },
    { type: "file_url", file_url: "http://[::1]/x.pdf", file_name: "x.pdf" },
    { type: "text", text: "b" },
  ];
  expect(await invoke(user(...content))).toBe(
    [
      "a",
      '[file: models do not receive parts of type "sticker"]',
      "[image: it has no content]",
      "[image: its URL is neither http nor https]",
      "[image (169.254.169.254): it could not be loaded: its host is not public or not trusted]",
      '[file "x.pdf" ([::1]): it could not be loaded: its host is not public or not trusted]',
      "b",
    ].join("\n"),
  );
  const answered = { role: "assistant", content: [{ type: "text", text: "ok" }, image] };
  expect(await invoke(user(question), answered)).toBe(
    "ok\n[image: models receive only images and files of users and tools]",
  );
});

test("an invalid image is refused with its path", async ({ talk: { client, say } }) => {
  const { invoke } = await say({ text: "x" });
  const bad = "is neither base64 nor a data URL with base64";
  const refused = (call: Promise<unknown>) =>
    call.then(
      () => "",
      (error: Error) => error.message,
    );
  expect(await refused(invoke(user(question, { type: "image_base64", image_base64: "é" })))).toBe(
    `3 INVALID_ARGUMENT: invalid messages[0].content[1].image_base64: ${bad}`,
  );
  expect(await refused(invoke({ role: "user", attachments: [{ type: "file", content: "é" }] }))).toBe(
    `3 INVALID_ARGUMENT: invalid messages[0].attachments[0].content: ${bad}`,
  );
  expect(await refused(invoke(user(...Array.from({ length: 21 }, () => image))))).toBe(
    "8 RESOURCE_EXHAUSTED: invalid messages: contains 21 images and files: send at most 20 of them, or refer to artifacts",
  );
  expect(
    await refused(start(client, { input: { contents: elements({ type: "image_url", image_url: "data:x" }) } })),
  ).toBe(`3 INVALID_ARGUMENT: invalid event.input.contents[0].image_url: ${bad}`);
});
