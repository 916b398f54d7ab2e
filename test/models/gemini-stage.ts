// Gemini, for the cases that run against every provider.

import { createGemini } from "../../src/agent/models/gemini/provider.ts";
import { onGemini } from "../fakes/gemini-provider.ts";
import type { RecordedRequest } from "../fakes/wire-server.ts";
import type { ProviderStage, StagedCall } from "./stage.ts";

const wireCounts = {
  promptTokenCount: 11,
  candidatesTokenCount: 4,
  thoughtsTokenCount: 3,
  totalTokenCount: 18,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 11 }],
};

export const geminiStage: ProviderStage = {
  name: "gemini",
  modelName: "gemini-2.5-flash",
  open: ({ origin, ...options }) => createGemini({ name: "gemini", baseUrl: `${origin}/v1beta`, ...options }),
  say: (...pieces) =>
    onGemini((wire) => {
      for (const piece of pieces) {
        wire.text(piece);
      }
      wire.finish("STOP", wireCounts);
    }),
  call: (...calls) => onGemini((wire) => wire.parts(calls.map(toPart), { finishReason: "STOP" })),
  think: (thought, text) =>
    onGemini((wire) => {
      wire.thought(thought);
      wire.text(text);
      wire.finish("STOP");
    }),
  begin: (text, then) =>
    onGemini((wire, request) => {
      wire.text(text);
      return then(wire, request);
    }),
  goOn: (text) =>
    onGemini((wire) => {
      wire.text(text);
      wire.finish("STOP");
    }),
  beginCall: (call, then) =>
    onGemini((wire, request) => {
      wire.parts([toPart(call)]);
      return then(wire, request);
    }),
  errorInStream: {
    passing: (wire) => wire.frame({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }),
    lasting: (wire) =>
      wire.frame({
        error: { code: 400, message: "Request contains an invalid argument.", status: "INVALID_ARGUMENT" },
      }),
  },
  end: (text, reason) =>
    onGemini((wire) => {
      wire.text(text);
      wire.finish(reason === "length" ? "MAX_TOKENS" : "PROHIBITED_CONTENT");
    }),
  refusalDetail: "PROHIBITED_CONTENT",
  usage: { promptTokens: 11, completionTokens: 7 },
  keyOf: ({ headers }) => headers["x-goog-api-key"] as string | undefined,
  partsOf: ({ body }) => (body.contents as { parts: unknown }[]).at(-1)?.parts,
  parts: {
    text: (text) => ({ text }),
    png: (base64) => ({ inlineData: { mimeType: "image/png", data: base64 } }),
    pdf: (base64) => ({ inlineData: { mimeType: "application/pdf", data: base64 } }),
  },
  schemasOf: ({ body }: RecordedRequest) => {
    const [tool] = body.tools as [{ functionDeclarations: { parametersJsonSchema: unknown }[] }];
    return tool.functionDeclarations.map(({ parametersJsonSchema }) => parametersJsonSchema);
  },
  formatOf: ({ body }) => {
    const { responseMimeType, responseJsonSchema } = (body.generationConfig ?? {}) as Record<string, unknown>;
    return responseMimeType === undefined ? responseJsonSchema : { responseMimeType, responseJsonSchema };
  },
  wireFormat: (_name, schema) => ({ responseMimeType: "application/json", responseJsonSchema: schema }),
  plainModelName: "gemini-1.5-pro",
  schemaModelName: "gemini-3-pro-preview",
};

// Most models send no ids.
function toPart({ name, args }: StagedCall): object {
  return { functionCall: { name, args } };
}
