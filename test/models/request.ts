// A request as plain as one can be: what a test is about, it says itself.

import type { ModelRequest } from "../../src/agent/models/model.ts";

export const request: ModelRequest = {
  system: "Be brief.",
  messages: [{ role: "user", text: "hello" }],
  tools: [],
  maxTokens: 100,
  temperature: undefined,
};
