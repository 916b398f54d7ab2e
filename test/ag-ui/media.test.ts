// Images and files that front ends send, on their way to a model and back.

import { expect, test } from "vitest";
import { pngBase64 } from "../fakes/png.ts";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { ask, clients, openAgent, setAgUiStage, textsOf } from "./stage.ts";

const png = `data:image/png;base64,${pngBase64}`;
const pdf = Buffer.from("%PDF-1.7").toString("base64");

test.each(clients)(
  "$name: images and files reach the model, and come back as the client sent them",
  async ({ Agent }) => {
    const { service, provider, printed } = await setAgUiStage();
    provider.respond(answer("a dot"), answer("black"));
    const agent = openAgent(Agent, service.url);
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image", source: { type: "data", value: pngBase64, mimeType: "image/png" } },
      {
        type: "document",
        source: { type: "data", value: pdf, mimeType: "application/pdf" },
        metadata: { filename: "a.pdf" },
      },
    ];
    agent.addMessage({ id: "u1", role: "user", content } as never);
    await agent.runAgent();
    const sent = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: png } },
      { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
    ];
    expect((await provider.request(0)).body.messages.at(-1)?.content).toEqual(sent);
    // The same messages again are the same thread, not an edit of it.
    ask(agent, "Its colour?");
    await agent.runAgent();
    expect(await query(service.databaseUrl, "select from session")).toHaveLength(1);
    const { messages } = (await provider.request(1)).body;
    expect(messages.map((each) => each.content)).toEqual([sent, "a dot", "Its colour?"]);
    const other = openAgent(Agent, service.url, { url: `${service.url}/v1/ag-ui/default/connect` });
    await other.runAgent();
    expect(textsOf(other)).toEqual(textsOf(agent));
    expect(other.messages[0]).toMatchObject({ id: "u1", content });
    expect(printed).toEqual([]);
  },
);

test("an edited file is another message, and continues in a fork", async () => {
  const { service, provider } = await setAgUiStage();
  provider.respond(answer("one"), answer("two"));
  const file = (type: string, value: string, mimeType: string) => [{ type, source: { type: "data", value, mimeType } }];
  await postParts(service.url, file("document", pdf, "application/pdf"));
  const next = { id: "u2", role: "user", content: "And now?" };
  expect(await postParts(service.url, file("image", pngBase64, "image/png"), "user", [next])).toContain("two");
  expect((await provider.request(1)).body.messages.map(({ content }) => content)).toEqual([
    [{ type: "image_url", image_url: { url: png } }],
    "And now?",
  ]);
  expect(await query(service.databaseUrl, "select from session")).toHaveLength(2);
});

test("a part of the type binary is what its media type says", async () => {
  const { service, provider } = await setAgUiStage();
  provider.respond(answer("a dot"));
  const parts = [
    { type: "binary", mimeType: "image/png", data: pngBase64 },
    { type: "binary", mimeType: "application/pdf", data: pdf, filename: "a.pdf" },
  ];
  expect(await postParts(service.url, parts)).toContain("a dot");
  expect((await provider.request(0)).body.messages.at(-1)?.content).toEqual([
    { type: "image_url", image_url: { url: png } },
    { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
  ]);
});

test.each([
  { type: "binary", mimeType: "image/png", id: "file-1" },
  { type: "image", source: { type: "file", value: "file-1" } },
  { type: "hologram" },
])("a part that models cannot get is refused by RUN_ERROR: %j", async (part) => {
  const { service } = await setAgUiStage();
  expect(await postParts(service.url, [part])).toContain('"code":"unsupported_content"');
  expect(await query(service.databaseUrl, "select from run")).toEqual([]);
});

test("instructions are text alone", async () => {
  const { service } = await setAgUiStage();
  const image = { type: "image", source: { type: "url", value: "https://a.test/1.png" } };
  expect(await postParts(service.url, [image], "system")).toContain('"code":"unsupported_content"');
});

/** Sends a message as clients of any version may: they check the parts themselves. */
async function postParts(
  url: string,
  content: readonly object[],
  role = "user",
  more: readonly object[] = [],
): Promise<string> {
  const messages = [{ id: "u1", role, content }, ...more];
  const response = await fetch(`${url}/v1/ag-ui/default`, {
    method: "POST",
    headers: { ...credentialsOf(), "content-type": "application/json" },
    body: JSON.stringify({ threadId: "t", runId: crypto.randomUUID(), messages }),
  });
  return await response.text();
}
