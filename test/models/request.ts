// A minimal request; each test adds the properties that it is about.

import type { ModelRequest } from "../../src/agent/models/model.ts";

export const request: ModelRequest = {
  system: "Be brief.",
  messages: [{ role: "user", text: "hello" }],
  tools: [],
  maxTokens: 100,
  temperature: undefined,
};
