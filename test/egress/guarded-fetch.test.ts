// The network of one server ends at its origin, also when the client of the protocol wants to go on.

import { expect, test } from "vitest";
import { createGuardedFetch } from "../../src/platform/egress/guarded-fetch.ts";

test.each(["https://other.example/mcp", "http://docs.example/mcp", "https://docs.example:8443/mcp"])(
  "%s is not the server's origin, so no byte and no secret goes there",
  async (url) => {
    const asked: unknown[] = [];
    const guarded = createGuardedFetch({
      ...{ what: "mcp server", url: "https://docs.example/mcp", headers: { authorization: "Bearer secret-4711" } },
      egress: {
        open: (request) => {
          asked.push(request);
          return Promise.reject(new Error("no call is expected"));
        },
      },
      headTimeoutMs: () => 1_000,
      answerBytesMax: 1_000,
      onBroken: () => {},
    });
    await expect(guarded(url, { method: "POST", body: "{}" })).rejects.toThrow("the server leads to another origin");
    expect(asked).toEqual([]);
  },
);
