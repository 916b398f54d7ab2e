// A program: one long response of each provider's wire format, as their services send them, made once and written as one piece. The
// path of a request selects the format. Announces its address on standard error and ends when its standard input ends.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { deltasOfStream, word } from "../harness/streams.ts";

type Format = (texts: readonly string[]) => string;

const formats: Readonly<Record<string, Format>> = {
  "/chat/completions": (texts) => {
    const frame = (fields: object): string =>
      data({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        system_fingerprint: "f",
        ...fields,
      });
    const choice = (delta: object, finish_reason: string | null): object => ({
      index: 0,
      delta,
      logprobs: null,
      finish_reason,
    });
    return [
      frame({ choices: [choice({ role: "assistant", content: "" }, null)] }),
      ...texts.map((content) => frame({ choices: [choice({ content }, null)] })),
      frame({ choices: [choice({}, "stop")] }),
      frame({
        choices: [],
        usage: { prompt_tokens: 1, completion_tokens: texts.length, total_tokens: texts.length + 1 },
      }),
      "data: [DONE]\n\n",
    ].join("");
  },
  "/responses": (texts) => {
    let number = 0;
    const event = (type: string, fields: object): string => {
      number += 1;
      return `event: ${type}\n${data({ type, sequence_number: number, ...fields })}`;
    };
    const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
    const item = { id: "msg_1", type: "message", role: "assistant" };
    const part = { type: "output_text", text: texts.join(""), annotations: [] };
    const usage = { input_tokens: 1, output_tokens: texts.length, total_tokens: texts.length + 1 };
    return [
      event("response.created", { response: { id: "resp_1", output: [] } }),
      event("response.output_item.added", { output_index: 0, item: { ...item, content: [] } }),
      ...texts.map((delta) =>
        event("response.output_text.delta", { ...place, delta, logprobs: [], obfuscation: "x1" }),
      ),
      event("response.output_item.done", { output_index: 0, item: { ...item, status: "completed", content: [part] } }),
      event("response.completed", { response: { id: "resp_1", status: "completed", output: [], usage } }),
    ].join("");
  },
  "/messages": (texts) => {
    const event = (type: string, fields: object): string => `event: ${type}\n${data({ type, ...fields })}`;
    return [
      event("message_start", { message: { id: "msg_1", role: "assistant", content: [], usage: { input_tokens: 1 } } }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      ...texts.map((text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: texts.length } }),
      event("message_stop", {}),
    ].join("");
  },
  ":streamGenerateContent": (texts) =>
    texts
      .map((text, place) => {
        const finish = place === texts.length - 1 ? { finishReason: "STOP" } : {};
        const candidate = { content: { parts: [{ text }], role: "model" }, ...finish, index: 0 };
        const counts = { promptTokenCount: 1, candidatesTokenCount: place + 1, totalTokenCount: place + 2 };
        return data({ candidates: [candidate], usageMetadata: counts, modelVersion: "m", responseId: "r" });
      })
      .join(""),
};

function data(fields: object): string {
  return `data: ${JSON.stringify(fields)}\n\n`;
}

const texts = Array.from({ length: deltasOfStream }, () => word);
const bodies = Object.entries(formats).map(([path, format]) => [path, Buffer.from(format(texts))] as const);

const server = createServer((request, response) => {
  const body = bodies.find(([path]) => request.url?.includes(path))?.[1];
  request.resume().once("end", () => {
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/event-stream" }).end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  console.error(`streams on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.on("end", () => process.exit(0)).resume();
