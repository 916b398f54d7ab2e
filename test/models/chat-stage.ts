// Chat Completions, for the cases that run against every provider.

import { createOpenAiCompatible } from "../../src/agent/models/openai-compatible/provider.ts";
import { answer, onChat, stopAfter } from "../fakes/provider.ts";
import type { RecordedRequest } from "../fakes/wire-server.ts";
import type { ProviderStage } from "./stage.ts";

const usage = { promptTokens: 11, completionTokens: 7 };
const wireUsage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

export const chatStage: ProviderStage = {
  name: "openai",
  modelName: "gpt-4o",
  open: ({ origin, ...options }) => createOpenAiCompatible({ name: "openai", baseUrl: `${origin}/v1`, ...options }),
  say: (...pieces) =>
    onChat((wire) => {
      for (const piece of pieces) {
        wire.text(piece);
      }
      wire.finish("stop");
      wire.usage(wireUsage);
      wire.done();
    }),
  call: (...calls) =>
    onChat((wire) => {
      wire.toolCalls(
        ...calls.map(({ id, name, args }, index) => ({ index, id, name, arguments: JSON.stringify(args) })),
      );
      wire.done("tool_calls");
    }),
  think: (thought, text) =>
    onChat((wire) => {
      wire.reasoning(thought);
      wire.text(text);
      wire.done("stop");
    }),
  begin: (text, then) =>
    onChat((wire, request) => {
      wire.text(text);
      return then(wire, request);
    }),
  goOn: (text) => onChat(answer(text)),
  beginCall: ({ id, name, args }, then) =>
    onChat((wire, request) => {
      wire.toolCalls({ index: 0, id, name, arguments: JSON.stringify(args) });
      return then(wire, request);
    }),
  errorInStream: {
    passing: (wire) => wire.frame({ error: { message: "overloaded", code: 503 } }),
    lasting: (wire) => wire.frame({ error: { message: "no such thing", type: "invalid_request_error" } }),
  },
  end: (text, reason) => onChat(stopAfter(text, reason === "length" ? "length" : "content_filter")),
  refusalDetail: "content_filter",
  usage,
  keyOf: ({ headers }) => headers.authorization?.replace(/^Bearer /, ""),
  partsOf: ({ body }) => body.messages.at(-1)?.content,
  parts: {
    text: (text) => ({ type: "text", text }),
    png: (base64) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } }),
    imageUrl: (url) => ({ type: "image_url", image_url: { url } }),
    pdf: (base64, name) => ({
      type: "file",
      file: { filename: name, file_data: `data:application/pdf;base64,${base64}` },
    }),
  },
  schemasOf: ({ body }: RecordedRequest) =>
    (body.tools as { function: { parameters: unknown } }[]).map((tool) => tool.function.parameters),
  formatOf: ({ body }) => body.response_format,
  wireFormat: (name, schema) => ({ type: "json_schema", json_schema: { name, strict: true, schema } }),
  plainModelName: "gpt-3.5-turbo",
  schemaModelName: "gpt-4o",
};
