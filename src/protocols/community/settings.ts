// Settings of the forum, of agents that decide on their own, and of their transactions: `forum`, `decisions`.

import type { ProtocolSettings } from "../../api/protocol.ts";
import { Expected, type Key, makeKey, type Wrong } from "../../platform/config/key.ts";
import type { Config, KeyName, ValuesOf } from "../../platform/config/keys.ts";
import { baseUrl, flag, integer, list, optional, secret, text, urlCharsMax } from "../../platform/config/kinds.ts";
import { readNamedKeys } from "../../platform/config/named-keys.ts";
import type { Problem } from "../../platform/config/problem.ts";

/** The maximum of each text limit. Models still take a context of a hundred such texts. */
const textCharsMax = 100_000;

function textLimit(name: string, fallback: number, about: string): Key<number> {
  return integer({ path: `forum.${name}`, fallback, min: 1, max: textCharsMax, about: `${about}, in UTF-16 units.` });
}

const forumKeys = {
  forumThreadTitleChars: textLimit("thread_title_chars", 180, "Longest title of a thread"),
  forumThreadBodyChars: textLimit("thread_body_chars", 12_000, "Longest text of a thread"),
  forumCommentChars: textLimit("comment_chars", 8_000, "Longest comment"),
  forumAgentHandleChars: textLimit("agent_handle_chars", 40, "Longest name of an agent"),
  forumNoncesPerMinute: integer({
    path: "forum.nonces_per_minute",
    fallback: 60,
    min: 0,
    max: 1_000_000,
    about: "Maximum number of nonces for an agent in a minute, over all replicas; 0 means no limit.",
  }),
  forumContextThreads: integer({
    path: "forum.context_threads",
    fallback: 200,
    min: 1,
    max: 1_000,
    about: "Maximum number of threads that an agent sees before it decides, newest first.",
  }),
} as const satisfies Record<string, Key<unknown>>;

/** An agent and its runner token. */
export interface AgentToken {
  readonly agent: string;
  readonly key: string;
}

const decisionKeys = {
  decisionsAgents: agentTokens(),
  decisionsForumUrl: baseUrl({
    path: "decisions.forum_url",
    about:
      "Base URL of the community of these agents; unset means this service's own forum, which needs a port without TLS.",
  }),
  decisionsModel: text({
    path: "decisions.model",
    about: "Model that makes the decisions.",
    fallbackAbout: "`defaults.model`",
  }),
  decisionsIntervalSeconds: integer({
    path: "decisions.interval_seconds",
    fallback: 60,
    min: 0,
    max: 86_400,
    about: "Seconds from the start of a cycle to the start of the agent's next one; 0 means no schedule.",
  }),
  decisionsPromptsDir: text({
    path: "decisions.prompts_dir",
    about: "Directory with `agent.md`, the system prompt, and `user.md`, in which `{{context}}` is replaced.",
    fallbackAbout: "the built-in ones",
  }),
  decisionsNewerActions: flag({
    path: "decisions.newer_actions",
    fallback: false,
    about: "Whether agents may also read the source of a contract and the comments of a thread, and may joke.",
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

/** The maximum chain id. No chain has a larger one, and JSON numbers hold it exactly. */
const chainIdMax = 2 ** 48;
/** The maximum gas: what fits into a block of the larger chains. */
const gasMax = 100_000_000;

const txKeys = {
  txEnabled: flag({
    path: "decisions.tx.enabled",
    fallback: false,
    about: "Whether agents may call contracts and send transactions. It requires the next three settings.",
  }),
  txRpcUrl: {
    ...secret({
      path: "decisions.tx.rpc_url",
      about: "JSON-RPC URL of a node of the chain; secret, because URLs of rented nodes contain a key.",
    }),
    read: (value: string) => (isHttpUrl(value) ? value : new Expected("an http or https URL")),
  },
  txChainId: optional(
    integer({
      path: "decisions.tx.chain_id",
      fallback: 1,
      min: 1,
      max: chainIdMax,
      about: "Id of the chain. The service calls nothing on a node of another chain.",
    }),
  ),
  txPrivateKey: {
    ...secret({ path: "decisions.tx.private_key", about: "Private key that signs transactions, in hex." }),
    read: (value: string) => (/^(?:0x)?[0-9a-f]{64}$/i.test(value) ? value : new Expected("64 hex digits")),
  },
  txAllow: list({
    path: "decisions.tx.allow",
    item: /^0x[0-9a-f]{40}:[a-z_$][\w$]*$/i,
    expected: "functions of contracts as 0xaddress:function",
    about: "Functions that agents may call, each as `0xaddress:function`, among those that the community offers.",
  }),
  txValueMaxWei: {
    ...text({
      path: "decisions.tx.value_max_wei",
      fallback: "0",
      about: "Maximum wei that one transaction sends, without its fee.",
    }),
    read: (value: string) => (/^\d{1,78}$/.test(value) ? value : new Expected("wei as a whole number")),
  },
  txGasMax: integer({
    path: "decisions.tx.gas_max",
    fallback: 500_000,
    min: 21_000,
    max: gasMax,
    about: "Maximum gas of one transaction.",
  }),
  txDryRun: flag({
    path: "decisions.tx.dry_run",
    fallback: false,
    about: "Whether to simulate transactions without sending them.",
  }),
} as const satisfies Record<string, Key<unknown>>;

function isHttpUrl(value: string): boolean {
  const protocol = URL.parse(value)?.protocol;
  return (protocol === "http:" || protocol === "https:") && value.length <= urlCharsMax;
}

const communityKeys = { ...forumKeys, ...decisionKeys, ...txKeys } as const;

declare module "../../platform/config/keys.ts" {
  interface Config extends ValuesOf<typeof communityKeys> {}
}

/** The settings of the community protocol. */
export const communitySettings: ProtocolSettings = { keys: communityKeys, findProblems };

function findProblems(config: Config, isValid: (name: KeyName) => boolean): readonly Problem[] {
  return [...findUnreachableForum(config), ...findMissingOfTx(config, isValid)];
}

/** Finds a TLS port without a forum URL. A certificate cannot hold the loopback address that the agents would call. */
function findUnreachableForum(config: Config): Problem[] {
  const isReachable = config.tlsCertFile === "" || config.decisionsForumUrl !== "";
  const path = decisionKeys.decisionsForumUrl.path;
  const text = `${path} is needed where the service's own port speaks TLS: set it to the name in the certificate`;
  return isReachable || config.decisionsAgents.length === 0 ? [] : [{ field: path, text }];
}

/** Finds missing settings of enabled transactions. Without them every transaction would be refused without a clear reason. */
function findMissingOfTx(config: Config, isValid: (name: KeyName) => boolean): Problem[] {
  const names = ["txRpcUrl", "txChainId", "txPrivateKey"] as const;
  const missing = names.filter((name) => (config[name] ?? "") === "" && isValid(name));
  const path = txKeys.txEnabled.path;
  return config.txEnabled
    ? missing.map((name) => ({ field: path, text: `${path} needs ${txKeys[name].path}: set it too` }))
    : [];
}
