// The settings of coding agents: `acp`.

import type { ProtocolSettings } from "../../api/protocol.ts";
import { Expected, type Key, makeKey } from "../../platform/config/key.ts";
import type { ValuesOf } from "../../platform/config/keys.ts";
import { integer } from "../../platform/config/kinds.ts";
import { type CodingAgent, readCodingAgents } from "./agents.ts";

const acpKeys = {
  acpAgents: codingAgents(),
  acpProgramsMax: integer({
    path: "acp.programs_max",
    fallback: 4,
    min: 1,
    max: 1_000,
    about: "Maximum number of coding agents that run at once in one replica; further runs wait.",
  }),
} as const satisfies Record<string, Key<unknown>>;

function codingAgents(): Key<readonly CodingAgent[]> {
  const about =
    'Coding agents that speak ACP, one a line: `claude={"command": "claude-agent-acp", "env": {"ANTHROPIC_API_KEY": "…"}, "folders": ' +
    '["/opt/claude"], "network": true}`. Each is a program in the jail, and a runner that agents name. With `"permissions": "allow"` it ' +
    'may make all its tool calls. `"clients"` lists the clients whose agents may name it.';
  const row = { path: "acp.agents", fallback: [] as readonly CodingAgent[], about };
  const read = (text: string) =>
    readCodingAgents(text) ?? new Expected('lines such as coder={"command": "/opt/coder/acp"}, each name once');
  return { ...makeKey(row, read), separator: "\n", secret: true };
}

declare module "../../platform/config/keys.ts" {
  interface Config extends ValuesOf<typeof acpKeys> {}
}

/** The settings of this protocol. */
export const acpSettings: ProtocolSettings = { keys: acpKeys };
