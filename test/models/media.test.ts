// Images and files on their way to a model: types that it does not read are replaced by a note, and only the guarded egress
// loads URLs.

import { describe, expect, onTestFinished } from "vitest";
import { mediaTypesOf } from "../../src/agent/models/catalogue.ts";
import { loadsUrls } from "../../src/agent/models/media/hosted.ts";
import { decodeInline } from "../../src/agent/models/media/inline.ts";
import { mediaBytesMax, mediaItemsMax } from "../../src/agent/models/media/limits.ts";
import { withMedia } from "../../src/agent/models/media/with-media.ts";
import type { ModelContent, ModelMedia, ModelMessage } from "../../src/agent/models/model.ts";
import { openModels } from "../../src/agent/models/open.ts";
import { loadConfig } from "../../src/app/settings.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import type { Egress } from "../../src/platform/egress/post.ts";
import { createInternet, listen, openEgress } from "../egress/internet.ts";
import { pngBase64 } from "../fakes/png.ts";
import { answer } from "../fakes/provider.ts";
import { fail, startWireServer } from "../fakes/wire-server.ts";
import { test as base, openProvider } from "../fixtures.ts";
import { silentEvents } from "../runlog/store.ts";
import { request } from "./request.ts";
import { stages } from "./stages.ts";

const test = base.extend("stage", () => openStage());

const png = Buffer.from(pngBase64, "base64");
const dataUrl = `data:image/png;base64,${pngBase64}`;
const image = (data: ModelMedia["data"] = png, more: Partial<ModelMedia> = {}): ModelMedia => ({
  type: "image",
  name: undefined,
  mediaType: "image/png",
  data,
  ...more,
});

async function openStage({ egress = openEgress(), ...flags }: Partial<Config> & { egress?: Egress } = {}) {
  const provider = await openProvider();
  const { baseUrl } = provider;
  const keys = { openaiBaseUrl: baseUrl, openaiKey: "k", compatibleBaseUrl: baseUrl, retryBaseMs: 1, ...flags };
  const config = loadConfig({}, keys);
  const models = openModels({ config, clock: systemClock, events: silentEvents, random: Math.random, egress });
  onTestFinished(() => models.close());
  /** The content that the provider receives for these parts. */
  const say = async (model: string, parts: readonly ModelContent[], said: readonly ModelMessage[] = []) => {
    const messages = [...said, { role: "user", text: "", parts } as const];
    const answered = await Array.fromAsync(
      models.resolve(model).stream({ ...request, messages }, new AbortController().signal),
    );
    return { content: provider.requests.at(-1)?.body.messages.at(-1)?.content, end: answered.at(-1) };
  };
  return { provider, models, say };
}

describe("the media that a model reads", () => {
  test.each([
    ["openai", "gpt-4o-mini", "image/png image/jpeg image/gif image/webp application/pdf"],
    ["openai", "gpt-9-of-tomorrow", "image/png image/jpeg image/gif image/webp application/pdf"],
    ["openai", "gpt-4", ""],
    ["openai", "gpt-4-0613", ""],
    ["openai", "gpt-4.1", "image/png image/jpeg image/gif image/webp application/pdf"],
    ["openai", "gpt-4-turbo-2024-04-09", "image/png image/jpeg image/gif image/webp"],
    ["openai", "gpt-3.5-turbo", ""],
    ["openai", "o3-mini", ""],
    ["openai", "o3", "image/png image/jpeg image/gif image/webp application/pdf"],
    ["anthropic", "claude-haiku-4-5", "image/png image/jpeg image/gif image/webp application/pdf"],
    ["anthropic", "claude-3-haiku-20240307", "image/png image/jpeg image/gif image/webp"],
    ["openai", "gpt-4o-audio-preview", "audio/wav audio/mpeg"],
    [
      "gemini",
      "gemini-2.5-flash",
      "image/png image/jpeg image/webp application/pdf audio/wav audio/mpeg audio/aac audio/flac audio/ogg audio/aiff",
    ],
    ["compatible", "llava", "image/png image/jpeg image/gif image/webp audio/wav audio/mpeg"],
    ["demo", "demo", ""],
  ])("%s:%s: %s", (provider, name, types) => {
    expect(mediaTypesOf({ provider, name }).join(" ")).toBe(types);
  });

  test("are passed on; other media become a note", async ({ stage: { say } }) => {
    const parts = [
      { type: "text", text: "What is" } as const,
      image(png, { name: "cat.png" }),
      { type: "text", text: "this?" } as const,
      image(Buffer.from("%PDF-1.7"), { type: "file", name: 'a "b".pdf', mediaType: undefined }),
    ];
    expect((await say("gpt-3.5-turbo", parts)).content).toBe(
      [
        "What is",
        `[image "cat.png" (image/png, ${png.length} bytes): this model does not read images]`,
        "this?",
        '[file "a \\"b\\".pdf" (8 bytes): this model does not read files]',
      ].join("\n"),
    );
    expect((await say("compatible:llava", parts)).content).toEqual([
      { type: "text", text: "What is" },
      { type: "image_url", image_url: { url: dataUrl } },
      { type: "text", text: "this?" },
      { type: "text", text: '[file "a \\"b\\".pdf" (8 bytes): this model does not read files]' },
    ]);
  });

  test("are recognized by their bytes, not by the declared type", async ({ stage: { say } }) => {
    expect((await say("gpt-4o", [image(png, { mediaType: "image/jpeg" })])).content).toEqual([
      { type: "image_url", image_url: { url: dataUrl } },
    ]);
    expect((await say("gpt-4o", [image(Buffer.from("no image"))])).content).toBe(
      "[image (image/png, 8 bytes): this model reads only images of these types: image/png, image/jpeg, image/gif, image/webp]",
    );
    expect(
      (await say("gpt-4o", [image(Buffer.from("text"), { type: "file", mediaType: "text/plain\n]" })])).content,
    ).toBe("[file (4 bytes): this model reads only files of these types: application/pdf]");
  });

  test("become text in tool results where the format supports only text", async ({ stage: { provider, models } }) => {
    const messages: ModelMessage[] = [
      ...request.messages,
      { role: "assistant", text: "", toolCalls: [{ id: "c", name: "look", argumentsJson: "{}" }] },
      {
        role: "tool",
        toolCallId: "c",
        toolName: "look",
        text: "seen",
        parts: [{ type: "text", text: "seen" }, image()],
      },
    ];
    await Array.fromAsync(models.resolve("gpt-4o").stream({ ...request, messages }, new AbortController().signal));
    expect(provider.requests[0]?.body.messages.at(-1)?.content).toBe(
      `seen\n[image (image/png, ${png.length} bytes): this model accepts only text as the result of a tool]`,
    );
  });
});

describe("a request that a provider refuses with an image", () => {
  test.each([
    ["compatible:blind", 400],
    ["compatible:blind", 500],
    ["gpt-4o", 400],
  ])("to %s with status %i is made once more without it", async (model, status) => {
    const { provider, say } = await openStage();
    const attempts = status === 500 ? 4 : 1;
    provider.respond(...Array.from({ length: attempts }, () => fail(status, "no images")), answer("ok"));
    const { content, end } = await say(model, [image()]);
    expect(provider.requests).toHaveLength(attempts + 1);
    expect(content).toBe(`[image (image/png, ${png.length} bytes): its provider refused a request with it]`);
    expect(end).toMatchObject({ type: "finish", reason: "stop" });
  });

  test.for([
    ["an outage", 500],
    ["a wrong key", 401],
  ] as const)("is not made again for %s", async ([_, status], { stage: { provider, say } }) => {
    provider.respond(...Array.from({ length: 8 }, () => fail(status, "no")));
    expect((await say("gpt-4o", [image()])).end).toMatchObject({ type: "failure", code: String(status) });
    expect(JSON.stringify(provider.requests)).not.toContain("refused");
  });

  test("is not made again without an image", async ({ stage: { provider, say } }) => {
    provider.respond(fail(400, "no"));
    expect((await say("gpt-4o", [{ type: "text", text: "x" }])).end).toMatchObject({ type: "failure", code: "400" });
    expect(provider.requests).toHaveLength(1);
  });
});

describe("a request", () => {
  test("carries the newest images and files, up to their maximum", async ({ stage: { provider, say } }) => {
    const old: ModelMessage = { role: "user", text: "old", parts: [{ type: "text", text: "old" }, image()] };
    await say(
      "gpt-4o",
      Array.from({ length: mediaItemsMax }, () => image()),
      [old],
    );
    const [, first, last] = provider.requests[0]?.body.messages ?? [];
    expect(first?.content).toBe(
      `old\n[image (image/png, ${png.length} bytes): left out: a request carries at most 20 images and files, the newest ones]`,
    );
    expect(last?.content).toHaveLength(mediaItemsMax);
  });

  test("carries no image that is too large, and no more bytes than the maximum in all", async ({ stage: { say } }) => {
    const large = (bytes: number) => image(Buffer.concat([png, Buffer.alloc(bytes - png.length)]));
    expect((await say("gpt-4o", [large(mediaBytesMax + 1)])).content).toBe(
      "[image (image/png, 3,932,161 bytes): left out: an image or file may have at most 3,932,160 bytes]",
    );
    const { content } = await say(
      "gpt-4o",
      [1, 2, 3, 4].map(() => large(mediaBytesMax)),
    );
    expect((content as { type: string }[]).map(({ type }) => type)).toEqual([
      "text",
      "image_url",
      "image_url",
      "image_url",
    ]);
    expect(content).toMatchObject([
      { text: expect.stringContaining("at most 12,582,912 bytes of images and files") },
      {},
      {},
      {},
    ]);
  });
});

describe("a URL", () => {
  test.each(stages)("of an image is never loaded by the SDK of $name: a private one reaches no host", async (stage) => {
    const files = await startWireServer();
    const server = await startWireServer();
    onTestFinished(async () => {
      await Promise.all([files.close(), server.close()]);
    });
    const provider = stage.open({ origin: server.origin, apiKey: "k", clock: systemClock });
    onTestFinished(() => provider.close());
    server.respond(stage.say("ok"));
    const options = { egress: openEgress(), clock: systemClock, takesUrls: false };
    const model = withMedia(provider.model(stage.modelName), options);
    const parts = [image(new URL(`${files.origin}/secret`)), image(new URL(`${files.origin}/b`), { type: "file" })];
    const messages: ModelMessage[] = [
      { role: "user", text: "", parts },
      { role: "assistant", text: "", toolCalls: [{ id: "c", name: "look", argumentsJson: "{}" }] },
      { role: "tool", toolCallId: "c", toolName: "look", text: "", parts },
    ];
    const answered = await Array.fromAsync(model.stream({ ...request, messages }, new AbortController().signal));
    expect(answered.at(-1)).toMatchObject({ type: "finish" });
    const sent = JSON.stringify((await server.request(0)).body);
    expect(sent).toContain("it could not be loaded: its host is not public or not trusted");
    expect(sent).not.toContain("/secret");
    expect(files.connections).toBe(0);
  });

  test("is loaded once through the guarded egress, and its bytes are sent", async () => {
    const seen: unknown[] = [];
    const port = await listen((incoming, response) => {
      seen.push([incoming.method, incoming.url, incoming.headers.host, incoming.headers.cookie]);
      response.end(png);
    });
    const internet = createInternet({ "files.example": ["203.0.114.10"] }, { http: port });
    const { say } = await openStage({ egress: openEgress(internet.options) });
    const url = image(new URL("http://files.example/cat.png?size=2"), { mediaType: undefined });
    const sent = { type: "image_url", image_url: { url: dataUrl } };
    expect((await say("compatible:llava", [url, url])).content).toEqual([sent, sent]);
    expect(seen).toEqual([["GET", "/cat.png?size=2", "files.example", undefined]]);
    expect(internet.dials).toEqual(["203.0.114.10:80"]);
  });

  test.each([
    ["a host that resolves to a private address", "inside.example/x", "its host is not public or not trusted"],
    ["a redirect", "files.example/moved", "its host answered with status 302"],
    ["one that has expired", "files.example/gone", "its host answered with status 404"],
    ["an unknown host", "nowhere.example/x", "no such host"],
  ])("of %s is replaced by a note that shows no path", async (_, place, why) => {
    const port = await listen((incoming, response) => {
      const status = incoming.url?.startsWith("/moved") ? 302 : 404;
      response.writeHead(status, { location: "http://127.0.0.1/" }).end();
    });
    const names = { "files.example": ["203.0.114.10"], "inside.example": ["203.0.114.10", "10.0.0.8"] };
    const internet = createInternet(names, { http: port });
    const { say } = await openStage({ egress: openEgress(internet.options) });
    const { content } = await say("gpt-4o", [image(new URL(`http://${place}?token=s3cret`), { mediaType: undefined })]);
    expect(content).toBe(`[image (${place.split("/")[0]}): it could not be loaded: ${why}]`);
  });

  test("of a file that is too large is replaced by a note", async () => {
    const port = await listen((_, response) => response.end(Buffer.alloc(mediaBytesMax + 1)));
    const internet = createInternet({ "files.example": ["203.0.114.10"] }, { http: port });
    const { say } = await openStage({ egress: openEgress(internet.options) });
    expect((await say("gpt-4o", [image(new URL("http://files.example/"))])).content).toContain(
      "it is larger than the 3,932,160 bytes that are left for it",
    );
  });

  test("is passed to a provider that loads images itself, and the service loads nothing", async ({ server }) => {
    const [chat] = stages;
    const provider = chat?.open({ origin: server.origin, apiKey: "k", clock: systemClock }) ?? expect.fail();
    onTestFinished(() => provider.close());
    server.respond(chat?.say("ok") ?? expect.fail());
    const internet = createInternet({}, { http: 0 });
    const egress = openEgress(internet.options);
    const model = withMedia(provider.model("gpt-4o"), { egress, clock: systemClock, takesUrls: true });
    const parts = [image(new URL("https://files.example/cat.png"))];
    await Array.fromAsync(
      model.stream({ ...request, messages: [{ role: "user", text: "", parts }] }, new AbortController().signal),
    );
    expect(chat?.partsOf(await server.request(0))).toEqual([chat?.parts.imageUrl?.("https://files.example/cat.png")]);
    expect(internet.lookups).toEqual([]);
  });

  test.each([
    ["openai", "https://api.openai.com/v1", true],
    ["openai", "https://api.openai.com.evil.example/v1", false],
    ["openai", "http://gateway.internal/v1", false],
    ["anthropic", "https://api.anthropic.com/v1", true],
    ["anthropic", "http://127.0.0.1:8080", false],
    ["compatible", "https://api.openai.com/v1", false],
    ["gemini", "https://generativelanguage.googleapis.com/v1beta", false],
  ])("of a caller is passed to %s at %s: %s", (provider, baseUrl, expected) => {
    const flags = { openaiBaseUrl: baseUrl, anthropicBaseUrl: baseUrl, compatibleBaseUrl: baseUrl };
    expect(loadsUrls(provider, loadConfig({}, flags))).toBe(expected);
  });
});

test.each([
  ["base64", pngBase64, undefined],
  ["base64 in lines and without padding", pngBase64.replace(/.{20}/g, "$&\r\n").replaceAll("=", ""), undefined],
  ["a data URL", `DATA:Image/PNG;name=x;base64,${pngBase64}`, "image/png"],
  ["a data URL without a type", `data:;base64,${pngBase64}`, undefined],
])("bytes are read from %s", (_, text, mediaType) => {
  expect(decodeInline(text)).toEqual({ bytes: png, mediaType });
});

test.each(["", "file-abc", "data:image/png,raw", "data:image/png;base64", "a===", "https://files.example/x"])(
  "bytes are not read from %j",
  (text) => {
    expect(decodeInline(text)).toBeUndefined();
  },
);
