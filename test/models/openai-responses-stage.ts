// OpenAI's Responses, for the cases that run against every provider.

import { createOpenAiResponses } from "../../src/agent/models/openai-responses/provider.ts";
import { onResponses, type ResponsesWire } from "../fakes/responses-provider.ts";
import type { ProviderStage, StagedCall } from "./stage.ts";

const wireUsage = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 18,
};
const refusal = "I cannot help with that.";

export const responsesStage: ProviderStage = {
  name: "openai responses",
  modelName: "gpt-4o",
  open: ({ origin, ...options }) => createOpenAiResponses({ name: "openai", baseUrl: `${origin}/v1`, ...options }),
  say: (...pieces) =>
    onResponses((wire) => {
      wire.text(...pieces);
      wire.completed(wireUsage);
    }),
  call: (...calls) =>
    onResponses((wire) => {
      for (const call of calls) {
        writeCall(wire, call);
      }
      wire.completed(wireUsage);
    }),
  think: (thought, text) =>
    onResponses((wire) => {
      wire.reasoning({ id: "rs_0", summary: [thought], encrypted: "gAAAAB" });
      wire.text(text);
      wire.completed(wireUsage);
    }),
  begin: (text, then) =>
    onResponses((wire, request) => {
      wire.text(text);
      return then(wire, request);
    }),
  goOn: (text) =>
    onResponses((wire) => {
      wire.text(text);
      wire.completed(wireUsage);
    }),
  beginCall: (call, then) =>
    onResponses((wire, request) => {
      writeCall(wire, call);
      return then(wire, request);
    }),
  errorInStream: {
    passing: onResponses((wire) => wire.failed({ code: "server_error", message: "The server had an error." })),
    lasting: onResponses((wire) =>
      wire.event("error", {
        error: { type: "invalid_request_error", code: null, message: "No such thing.", param: "input" },
      }),
    ),
  },
  end: (text, reason) =>
    onResponses((wire) => {
      wire.text(text);
      if (reason === "length") {
        wire.incomplete("max_output_tokens", wireUsage);
      } else {
        wire.refusal(refusal.slice(0, 8), refusal.slice(8));
        wire.completed(wireUsage);
      }
    }),
  refusalDetail: refusal,
  usage: { promptTokens: 11, completionTokens: 7 },
  keyOf: ({ headers }) => headers.authorization?.replace(/^Bearer /, ""),
  partsOf: ({ body }) => (body.input as { content: unknown }[]).at(-1)?.content,
  parts: {
    text: (text) => ({ type: "input_text", text }),
    png: (base64) => ({ type: "input_image", image_url: `data:image/png;base64,${base64}`, detail: "auto" }),
    imageUrl: (url) => ({ type: "input_image", image_url: url, detail: "auto" }),
    pdf: (base64, name) => ({
      type: "input_file",
      filename: name,
      file_data: `data:application/pdf;base64,${base64}`,
    }),
  },
  schemasOf: ({ body }) => (body.tools as { parameters: unknown }[]).map((tool) => tool.parameters),
  formatOf: ({ body }) => (body.text as { format?: unknown } | undefined)?.format,
  wireFormat: (name, schema) => ({ type: "json_schema", name, strict: true, schema }),
  plainModelName: "gpt-4o-2024-05-13",
  schemaModelName: "gpt-4o",
};

function writeCall(wire: ResponsesWire, { id, name, args }: StagedCall): void {
  wire.call({ id, name, arguments: JSON.stringify(args) });
}
