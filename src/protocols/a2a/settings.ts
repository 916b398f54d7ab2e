// The settings of A2A agents as runners: `a2a`.

import type { ProtocolSettings } from "../../api/protocol.ts";
import { Expected, type Key, makeKey } from "../../platform/config/key.ts";
import type { ValuesOf } from "../../platform/config/keys.ts";
import { type A2aAgent, readA2aAgents } from "./agents.ts";

const a2aKeys = { a2aAgents: agents() } as const satisfies Record<string, Key<unknown>>;

function agents(): Key<readonly A2aAgent[]> {
  const about =
    'Agents that speak A2A, one a line: `planner={"url": "https://agents.example", "headers": {"authorization": "Bearer …"}}`. Each is a ' +
    "runner that agents name. The URL is that of the agent's card, or the base of `/.well-known/agent-card.json`. The headers go to its " +
    'origin alone. `"tenant"` names one of several agents of a server, and `"clients"` lists the clients whose agents may name it.';
  const row = { path: "a2a.agents", fallback: [] as readonly A2aAgent[], about };
  const read = (text: string) =>
    readA2aAgents(text) ?? new Expected('lines such as planner={"url": "https://agents.example"}, each name once');
  return { ...makeKey(row, read), separator: "\n", secret: true };
}

declare module "../../platform/config/keys.ts" {
  interface Config extends ValuesOf<typeof a2aKeys> {}
}

/** The settings of this protocol. */
export const a2aSettings: ProtocolSettings = { keys: a2aKeys };
