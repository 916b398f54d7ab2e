// Anthropic Messages, for the cases that run against every provider.

import { createAnthropic } from "../../src/agent/models/anthropic/provider.ts";
import { onMessages } from "../fakes/anthropic-provider.ts";
import type { RecordedRequest } from "../fakes/wire-server.ts";
import type { ProviderStage } from "./stage.ts";

export const anthropicStage: ProviderStage = {
  name: "anthropic",
  modelName: "claude-sonnet-4-5",
  open: ({ origin, ...options }) => createAnthropic({ name: "anthropic", baseUrl: `${origin}/v1`, ...options }),
  say: (...pieces) =>
    onMessages((wire) => {
      wire.start();
      wire.text(...pieces);
      wire.done("end_turn");
    }),
  call: (...calls) =>
    onMessages((wire) => {
      wire.start();
      for (const { id, name, args } of calls) {
        const text = JSON.stringify(args);
        wire.toolUse(id, name, text.slice(0, 3), text.slice(3));
      }
      wire.done("tool_use");
    }),
  think: (thought, text) =>
    onMessages((wire) => {
      wire.start();
      wire.thinking("c2lnbmF0dXJl", thought);
      wire.text(text);
      wire.done("end_turn");
    }),
  begin: (text, then) =>
    onMessages((wire, request) => {
      wire.start();
      wire.open({ type: "text", text: "" });
      wire.delta({ type: "text_delta", text });
      return then(wire, request);
    }),
  goOn: (text) =>
    onMessages((wire) => {
      wire.delta({ type: "text_delta", text });
      wire.close();
      wire.done("end_turn");
    }),
  beginCall: ({ id, name, args }, then) =>
    onMessages((wire, request) => {
      wire.start();
      wire.toolUse(id, name, JSON.stringify(args));
      return then(wire, request);
    }),
  errorInStream: {
    passing: onMessages((wire) => wire.error("overloaded_error", "Overloaded")),
    lasting: onMessages((wire) => wire.error("invalid_request_error", "no such thing")),
  },
  end: (text, reason) =>
    onMessages((wire) => {
      wire.start();
      wire.text(text);
      wire.done(reason === "length" ? "max_tokens" : "refusal");
    }),
  refusalDetail: "refusal",
  usage: { promptTokens: 11, completionTokens: 7 },
  keyOf: ({ headers }) => {
    const key = headers["x-api-key"];
    return typeof key === "string" ? key : undefined;
  },
  // The last part of the last message also carries the cache marker.
  partsOf: ({ body: { messages } }) =>
    (messages as readonly { content?: unknown }[] as readonly { content: object[] }[])
      .at(-1)
      ?.content.map((part) => ({ ...part, cache_control: undefined })),
  parts: {
    text: (text) => ({ type: "text", text }),
    png: (base64) => ({ type: "image", source: { type: "base64", media_type: "image/png", data: base64 } }),
    imageUrl: (url) => ({ type: "image", source: { type: "url", url } }),
    pdf: (base64, name) => ({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: base64 },
      title: name,
    }),
  },
  schemasOf: ({ body }: RecordedRequest) =>
    (body.tools as { input_schema: unknown }[]).map((tool) => tool.input_schema),
  formatOf: ({ body }) => (body.output_config as { format?: unknown } | undefined)?.format,
  wireFormat: (_name, schema) => ({ type: "json_schema", schema }),
  plainModelName: "claude-3-5-haiku-20241022",
  schemaModelName: "claude-sonnet-4-5",
};
