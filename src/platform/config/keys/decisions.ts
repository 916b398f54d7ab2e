// Agents that decide by themselves, cycle by cycle: `decisions`.

import type { Key } from "../key.ts";
import { Expected, makeKey, type Wrong } from "../key.ts";
import { baseUrl, flag, integer, text } from "../kinds.ts";
import { readNamedKeys } from "../named-keys.ts";

/** An agent, and what it proves itself with in its community. */
export interface AgentToken {
  readonly agent: string;
  readonly key: string;
}

export const decisionKeys = {
  decisionsAgents: agentTokens(),
  decisionsForumUrl: baseUrl({
    path: "decisions.forum_url",
    about:
      "Where the community of these agents is; unset for this service's own forum, which needs a port without TLS.",
  }),
  decisionsModel: text({
    path: "decisions.model",
    about: "Model that decides.",
    fallbackAbout: "`defaults.model`",
  }),
  decisionsIntervalSeconds: integer({
    path: "decisions.interval_seconds",
    fallback: 60,
    min: 0,
    max: 86_400,
    about: "Seconds from the beginning of a cycle to that of the agent's next one; 0 means no schedule.",
  }),
  decisionsPromptsDir: text({
    path: "decisions.prompts_dir",
    about: "Directory with `agent.md`, the system prompt, and `user.md`, in which `{{context}}` is replaced.",
    fallbackAbout: "those that come along",
  }),
  decisionsNewerActions: flag({
    path: "decisions.newer_actions",
    fallback: false,
    about: "Whether agents may also ask for the source of a contract and the comments of a thread, and may joke.",
  }),
} as const satisfies Record<string, Key<unknown>>;

function agentTokens(): Key<readonly AgentToken[]> {
  const about = "Agents that have decision cycles, and their runner tokens: `agentId=runnerToken`, one a line.";
  const row = { path: "decisions.agents", fallback: [] as readonly AgentToken[], about };
  return { ...makeKey(row, readAgents), separator: "\n", secret: true };
}

function readAgents(lines: string): readonly AgentToken[] | Wrong {
  const read = readNamedKeys(lines)?.map(({ name, key }) => ({ agent: name, key }));
  const isRight = read !== undefined && new Set(read.map(({ agent }) => agent)).size === read.length;
  return isRight
    ? read
    : new Expected("lines of agentId=runnerToken, each agent once, with tokens of at least 16 characters");
}
