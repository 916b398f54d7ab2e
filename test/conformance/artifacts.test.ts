// Images that a model makes: what readers of the log see, and what the next request repeats.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type ImageMaker, imageMakers } from "../fakes/image-makers.ts";
import { pngBase64 } from "../fakes/png.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import type { Plain, Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

const kinds = ["gRPC", "REST"].map(findSurface);

async function setStage({ flags }: ImageMaker, kind = findSurface("gRPC")) {
  const server = await openWireServer();
  return { server, api: kind.connect(await startService(flags(server.origin))) };
}

/** Sends a message. Returns the log of its run. */
async function say(api: Surface, sessionId: string, message: string) {
  const { run_id: runId } = await api.sendMessage({ sessionId, message });
  return await Array.fromAsync(api.followRun(runId));
}

async function openSession(api: Surface): Promise<string> {
  return (await api.createSession({ agent: { name: "painter" } })).session_id;
}

type Log = Awaited<ReturnType<typeof say>>;

function payloadsOf(log: Log, type: string): Plain[] {
  return log.flatMap((each) => (each.type === type ? [each.payload as Plain] : []));
}

function hashOf(base64: string): string {
  return createHash("sha256").update(Buffer.from(base64, "base64")).digest("hex");
}

describe.each(imageMakers)("an image of $name", (maker) => {
  test.each(kinds)("is an artifact in the log over $name, and goes back where its provider wants it", async (kind) => {
    const { server, api } = await setStage(maker, kind);
    server.respond(maker.draw("A dot."), maker.draw("Again."));
    const sessionId = await openSession(api);
    const log = await say(api, sessionId, "Draw a dot.");
    const bytes = Buffer.from(pngBase64, "base64");
    expect(payloadsOf(log, "artifact.created")).toEqual([
      {
        artifact_type: "image",
        artifact_id: maker.id ?? expect.stringMatching(/^artifact_[0-9a-f]{24}$/),
        mime_type: "image/png",
        size_bytes: bytes.length,
        sha256: hashOf(pngBase64),
        content_base64: pngBase64,
      },
    ]);
    expect(payloadsOf(log, "message.completed")).toMatchObject([{ message: { text: "A dot." } }]);
    await say(api, sessionId, "Make it blue.");
    const { text } = await server.request(1);
    expect(text.split(pngBase64)).toHaveLength(maker.returned === undefined ? 1 : 2);
    expect(text).toContain(maker.returned === undefined ? "A dot." : JSON.stringify(maker.returned));
  });

  test("of more than 1 MiB has its size and its hash in the log, and no content", async () => {
    const { server, api } = await setStage(maker);
    const large = Buffer.alloc(1_048_577, 7).toString("base64");
    const fitting = Buffer.alloc(1_048_576, 7).toString("base64");
    server.respond(maker.draw("Large.", large), maker.draw("It fits.", fitting));
    const sessionId = await openSession(api);
    const facts = { artifact_type: "image", mime_type: "image/png", sha256: hashOf(large), size_bytes: 1_048_577 };
    const [artifact] = payloadsOf(await say(api, sessionId, "Draw."), "artifact.created");
    expect(artifact).toEqual({ ...facts, artifact_id: expect.any(String) });
    const [second] = payloadsOf(await say(api, sessionId, "Draw again."), "artifact.created");
    expect(second?.content_base64 === fitting).toBe(true);
  });
});

test("the call of a provider's own tool names its artifact in place of the image", async () => {
  const [maker = expect.fail("no provider")] = imageMakers.filter(({ id }) => id !== undefined);
  const { server, api } = await setStage(maker);
  server.respond(maker.draw("A dot."));
  const log = await say(api, await openSession(api), "Draw a dot.");
  const [call] = payloadsOf(log, "tool.call.completed");
  expect(call).toMatchObject({ tool_call_id: "ig_1", tool_name: "image_generation", run_by_provider: true });
  expect(JSON.stringify(call?.result)).toContain("ig_1");
  expect(JSON.stringify(log).split(pngBase64)).toHaveLength(2);
  const types = log.map(({ type }) => type);
  expect(types.indexOf("artifact.created")).toBe(types.indexOf("tool.call.started") - 1);
});
