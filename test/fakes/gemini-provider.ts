// Gemini's side of a stream, frame by frame as the service sends it. The server is the wire server.

import type { RecordedRequest, Wire, Script as WireScript } from "./wire-server.ts";

/** Writes one response. A response that a script leaves open is ended for it. */
export type GeminiScript = (wire: GeminiWire, request: RecordedRequest) => Promise<void> | void;

export interface GeminiWire extends Wire {
  /** One frame with these parts, and with further fields of its candidate. */
  parts(parts: readonly object[], candidate?: object): void;
  text(text: string): void;
  thought(text: string): void;
  /** The last frame, as most responses have it: an empty text, the reason, the figures. */
  finish(reason: string, counts?: object): void;
}

/** A script of Gemini for a server of any kind. */
export function onGemini(script: GeminiScript): WireScript {
  return (wire, request) => script(createGeminiWire(wire), request);
}

/** What every frame carries besides. */
export const frameTail = { modelVersion: "gemini-2.5-flash", responseId: "tTCwacuEBMvnitYP06qsgQY" };

/** Figures as they stand in the frames before the last. */
export const earlyCounts = {
  promptTokenCount: 11,
  totalTokenCount: 11,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 11 }],
};

function createGeminiWire(wire: Wire): GeminiWire {
  const parts: GeminiWire["parts"] = (said, candidate = {}) =>
    wire.frame({
      candidates: [{ content: { parts: said, role: "model" }, index: 0, ...candidate }],
      usageMetadata: earlyCounts,
      ...frameTail,
    });
  return {
    ...wire,
    parts,
    text: (text) => parts([{ text }]),
    thought: (text) => parts([{ text, thought: true }]),
    finish: (finishReason, usageMetadata = earlyCounts) =>
      wire.frame({
        candidates: [{ content: { parts: [{ text: "" }], role: "model" }, finishReason, index: 0 }],
        usageMetadata,
        ...frameTail,
      }),
  };
}
