// The images that a model makes, by the official client.

import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { type ImageMaker, imageMakers } from "../fakes/image-makers.ts";
import { pngBase64 } from "../fakes/png.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { lastResponse, openAiClient } from "./stage.ts";

async function setStage({ flags }: ImageMaker) {
  const server = await openWireServer();
  const service = await startService(flags(server.origin));
  return { server, client: openAiClient(service.url) };
}

describe.each(imageMakers)("an image of $name", (maker) => {
  const { model } = maker;

  test("is an item of a response, streamed or not, which its caller may send back", async () => {
    const { server, client } = await setStage(maker);
    server.respond(maker.draw("A dot."), maker.draw("A dot."), maker.draw("Again."));
    const item = { type: "image_generation_call", status: "completed", result: pngBase64 };
    const whole = await client.responses.create({ model, input: "Draw." });
    expect(whole.output.filter(({ type }) => type === item.type)).toMatchObject([item]);
    expect(whole.output_text).toBe("A dot.");
    const stream = await client.responses.create({ model, input: "Draw.", stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = await Array.fromAsync(stream);
    const named = events.filter((event) => event.type.startsWith("response.image_generation_call."));
    expect(named.map(({ type }) => type.split(".").at(-1))).toEqual(["in_progress", "completed"]);
    expect(lastResponse(events).output).toMatchObject(
      whole.output.map(({ id: _, ...fields }) => (fields.type === "mcp_call" ? {} : fields)),
    );
    const input = [...whole.output, { role: "user" as const, content: "Again." }] as OpenAI.Responses.ResponseInput;
    expect((await client.responses.create({ model, input })).output_text).toBe("Again.");
  });

  test("is beside the text of a chat, in the form of OpenRouter, and its caller may send it back", async () => {
    const { server, client } = await setStage(maker);
    server.respond(maker.draw("A dot."), maker.draw("A dot."), maker.draw("Again."));
    const messages = [{ role: "user" as const, content: "Draw." }];
    const images = [{ type: "image_url", image_url: { url: `data:image/png;base64,${pngBase64}` } }];
    const { choices } = await client.chat.completions.create({ model, messages });
    expect(choices[0]?.message).toMatchObject({ content: "A dot.", images });
    const chunks = await Array.fromAsync(await client.chat.completions.create({ model, messages, stream: true }));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toContainEqual({ images });
    const said = [{ role: "assistant" as const, content: "A dot.", images }, ...messages];
    const again = await client.chat.completions.create({ model, messages: [...messages, ...said] });
    expect(again.choices[0]?.message.content).toBe("Again.");
  });

  test("that is not in the log is an item without a result, and in no chat", async () => {
    const { server, client } = await setStage(maker);
    const large = Buffer.alloc(1_048_577, 7).toString("base64");
    server.respond(maker.draw("Large.", large), maker.draw("Large.", large));
    const { output } = await client.responses.create({ model, input: "Draw." });
    expect(output.filter(({ type }) => type === "image_generation_call")).toMatchObject([{ result: null }]);
    const messages = [{ role: "user" as const, content: "Draw." }];
    const { choices } = await client.chat.completions.create({ model, messages });
    expect(choices[0]?.message).not.toHaveProperty("images");
  });
});
