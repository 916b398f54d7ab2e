// What the driver announces to a coding agent is what it does: each capability is used by the agent, and every other one is refused.

import type { ClientCapabilities } from "@agentclientprotocol/sdk";
import { describe, expect } from "vitest";
import { readCodingAgents } from "../../src/protocols/acp/agents.ts";
import { readLog } from "../fault/log-reader.ts";
import { test as base } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { hasJail } from "../tools/bash/jailed.ts";
import { lineOf, openSession, send } from "./stage.ts";

const test = base.extend("service", () =>
  startService({ acpAgents: readCodingAgents(lineOf("coder", [], { permissions: "allow" })) ?? [] }),
);

const methodNotFound = -32_601;

/** Every capability of a client, and the answers that show whether it has it. A capability that the SDK adds does not compile here. */
const answersTo: Record<Exclude<keyof ClientCapabilities, "_meta">, readonly (readonly [string, unknown])[]> = {
  fs: [
    ["fs/write_text_file", {}],
    ["fs/read_text_file", { content: "written" }],
  ],
  terminal: ["create", "output", "wait_for_exit", "kill", "release"].map((name) => [
    `terminal/${name}`,
    methodNotFound,
  ]),
  elicitation: [
    ["elicitation/create", methodNotFound],
    ["elicitation/create", methodNotFound],
  ],
  // These change what an agent may show, and have no request of their own.
  session: [],
  auth: [],
};

describe.skipIf(!hasJail)("a coding agent", () => {
  test("can do what the service announces to it, and nothing else", async ({ client }) => {
    const sessionId = await openSession(client, { name: "fake", runner: "coder" });
    const results = await readLog(client, await send(client, sessionId, "probe"));
    const end = results.at(-1)?.payload;
    const said = end?.case === "runCompleted" ? String(end.value.message?.content.value) : "";
    expect(JSON.parse(said)).toEqual({
      // The SDK adds `auth`.
      announced: { fs: { readTextFile: true, writeTextFile: true }, terminal: false, auth: { terminal: false } },
      answers: [...answersTo.fs, ...answersTo.terminal, ...answersTo.elicitation],
    });
  });
});
