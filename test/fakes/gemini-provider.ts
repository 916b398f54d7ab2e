// Gemini's side of a stream, frame by frame as the service sends it, on the wire server.

import type { RecordedRequest, Wire, Script as WireScript } from "./wire-server.ts";

/** Writes one response. The server ends a response that a script leaves open. */
export type GeminiScript = (wire: GeminiWire, request: RecordedRequest) => Promise<void> | void;

export interface GeminiWire extends Wire {
  /** Writes one frame with these parts, and with further fields of its candidate. */
  parts(parts: readonly object[], candidate?: object): void;
  text(text: string): void;
  thought(text: string): void;
  /** Writes the last frame, as most responses have it: an empty text, the reason, the usage. */
  finish(reason: string, counts?: object): void;
}

/** Makes a script for a server of any kind from a script of Gemini. */
export function onGemini(script: GeminiScript): WireScript {
  return (wire, request) => script(createGeminiWire(wire), request);
}

/** The fields at the end of every frame. */
export const frameTail = { modelVersion: "gemini-2.5-flash", responseId: "tTCwacuEBMvnitYP06qsgQY" };

/** The usage in the frames before the last. */
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
