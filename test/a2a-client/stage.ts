// A service whose agents elsewhere speak A2A.

import type { Config } from "../../src/platform/config/keys.ts";
import { readA2aAgents } from "../../src/protocols/a2a/agents.ts";

/** A key that nothing may show. */
export const secretKey = "key-4711-of-the-agent";

/** Returns the line of the settings that names an agent. */
export function lineOf(name: string, url: string, fields: object = {}): string {
  return `${name}=${JSON.stringify({ url, headers: { authorization: `Bearer ${secretKey}` }, ...fields })}`;
}

/** Returns the settings of a service with these agents on this machine. */
export function flagsOf(...lines: readonly string[]): Partial<Config> {
  return { a2aAgents: readA2aAgents(lines.join("\n")) ?? [], securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"] };
}
