// Settings of sessions, their runs, and their callbacks: `sessions`, `runs`, `callback`, `security`, `retention`.

import { parseObject } from "../../base/json/parse-object.ts";
import { parseHostNetwork } from "../host-network.ts";
import { Expected, type Key, makeKey, type Wrong } from "../key.ts";
import { baseUrl, flag, integer, list, text } from "../kinds.ts";

const documented = true;
const notNegative = "must not be negative";

/** The settings of sessions. */
export const sessionKeys = {
  sessionsMaxConcurrent: integer({
    path: "sessions.max_concurrent",
    fallback: 50,
    min: 0,
    max: 1_000_000,
    belowMin: notNegative,
    about: "Maximum number of active runs over all replicas; 0 means no limit.",
    documented,
  }),
  sessionsClientMaxConcurrent: integer({
    path: "sessions.client_max_concurrent",
    fallback: 0,
    min: 0,
    max: 1_000_000,
    belowMin: notNegative,
    about:
      "Maximum number of active runs of one client over all replicas; 0 means no limit besides that of all clients.",
  }),
  sessionsTtlMinutes: integer({
    path: "sessions.ttl_minutes",
    fallback: 30,
    min: 1,
    max: 525_600,
    belowMin: "must be positive",
    about: "Minutes after which an idle session is removed.",
    documented,
  }),
  sessionsHistoryMessages: integer({
    path: "sessions.history_messages",
    fallback: 200,
    min: 2,
    max: 10_000,
    about: "Maximum number of a session's earlier messages that a model gets.",
  }),
  sessionsSingleMessage: flag({
    path: "sessions.single_message",
    fallback: false,
    about: "Whether a session accepts only one message, as the Agent Runner document's own service does.",
  }),
  sessionsWorkRoot: text({
    path: "sessions.work_root",
    fallbackAbout: "`work` in `database.dir`",
    about: "Directory in which sessions without `work_dir` get one of their own.",
  }),
  sessionsWorkDirs: list({
    path: "sessions.work_dirs",
    item: /^\/(?:(?!\{client\})[^,\0]|(?<=\/)\{client\}(?=\/|$))*$/,
    expected: "absolute paths, separated by commas, with {client} only as a whole name",
    fallbackAbout: "none, and `/` in `runnel dev` on loopback",
    about:
      "Directories that sessions may name as their `work_dir`, each with its subdirectories, separated by commas. Those of the system " +
      "and of the service are never among them. Replaces `{client}` with a name of each client's own. Without a list, each session works in a directory of its own.",
  }),
  runsSlots: integer({
    path: "runs.slots",
    fallback: 256,
    min: 1,
    max: 10_000,
    about: "Maximum number of runs that one replica works on at a time.",
  }),
  runsLeaseMs: integer({
    path: "runs.lease_ms",
    fallback: 5_000,
    min: 300,
    max: 60_000,
    about: "Time without a sign of life after which a replica's runs are taken over.",
  }),
  runsSearch: flag({
    path: "runs.search",
    fallback: true,
    about:
      "Whether the texts of runs are kept once more, with an index of their words, so that clients can search them.",
  }),
  runsPieceWaitMs: integer({
    path: "runs.piece_wait_ms",
    fallback: 25,
    min: 0,
    max: 50,
    about:
      "Milliseconds for which pieces of a text that flows wait for each other, so that they share a row of the log; 0 means not at all. " +
      "The first piece, and one after a pause of 20 ms, never waits.",
  }),
  callbackBaseUrl: baseUrl({
    path: "callback.base_url",
    about: "Base URL for remote tool calls and status callbacks of sessions without a callback of their own.",
    documented,
  }),
  callbackTimeoutSec: integer({
    path: "callback.timeout_sec",
    fallback: 30,
    min: 0,
    max: 3_600,
    belowMin: notNegative,
    about: "Timeout of a callback.",
    documented,
  }),
  securityAllowPrivateNetworks: flag({
    path: "security.allow_private_networks",
    fallback: false,
    about: "Whether callers may give addresses of private networks as callback URLs.",
    documented,
  }),
  securityCallbackAllow: hostNetworks(),
  retentionDays: integer({
    path: "retention.days",
    fallback: 7,
    min: 1,
    max: 3_650,
    about: "Retention of the logs of runs.",
  }),
  agentPresets: agentPresets(),
} as const;

function agentPresets(): Key<readonly string[]> {
  const about = 'Agents that callers name, one a line: `name={"model": "gpt-4o", "system_prompt": "Be brief."}`.';
  const fallbackAbout = "one preset, `default`, with the service's defaults";
  const row = { path: "agents.presets", fallback: [] as readonly string[], fallbackAbout, about };
  return { ...makeKey(row, readPresets), separator: "\n" };
}

function readPresets(text: string): readonly string[] | Wrong {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const isRight = lines.every((line) => {
    const [, json] = /^\s*[A-Za-z0-9_-]{1,64}=(\{.*\})\s*$/.exec(line) ?? [];
    return json !== undefined && parseObject(json) !== undefined;
  });
  return isRight ? lines : new Expected('lines such as helper={"model": "gpt-4o"}: a name, =, and a JSON object');
}

function hostNetworks(): Key<readonly string[]> {
  const about =
    "Private hosts that callers may name all the same, each with the addresses it may have: `app.internal@10.0.0.0/8`, " +
    "separated by commas.";
  const row = { path: "security.callback_allow", fallback: [] as readonly string[], about };
  return { ...makeKey(row, readHostNetworks), separator: "," };
}

function readHostNetworks(text: string): readonly string[] | Wrong {
  const items = text.split(",").map((each) => each.trim());
  const isRight = items.every((each) => parseHostNetwork(each) !== undefined);
  return isRight
    ? items
    : new Expected("hosts with their networks such as app.internal@10.0.0.0/8, separated by commas");
}
