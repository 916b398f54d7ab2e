// The list of all commands, in the order of the help. Commands of protocols follow those of the core.

import type { CommandEntry, Define } from "./command-entry.ts";
import type { ProtocolCommands } from "./protocol-commands.ts";
import * as protocolList from "./protocol-list.ts";

/** The protocols, in the order of their list. */
export const protocols: readonly ProtocolCommands[] = Object.values(protocolList);

const coreCommands: readonly CommandEntry[] = [
  {
    name: "serve",
    about: "run the service with settings from a file and the environment",
    load: async () => (await import("./serve.ts")).defineServe,
  },
  {
    name: "dev",
    about: "run the service for development: quiet log, commands to paste",
    load: async () => (await import("./dev.ts")).defineDev,
  },
  {
    name: "migrate",
    about: "bring the database's schema up to date",
    load: async () => (await import("./migrate.ts")).defineMigrate,
  },
  {
    name: "doctor",
    about: "check everything that `serve` depends on; changes nothing",
    load: async () => (await import("./doctor.ts")).defineDoctor,
  },
  {
    name: "config",
    about: "explain and check the settings",
    load: async () => (await import("./config.ts")).defineConfig,
  },
  {
    name: "login",
    about: "keep the URL of a service and an API key for the commands of this user",
    load: async () => (await import("./login.ts")).defineLogin,
  },
  {
    name: "logout",
    about: "remove what `login` keeps",
    load: async () => (await import("./login.ts")).defineLogout,
  },
  {
    name: "run",
    about: "send a message in a new or an existing session and follow the run",
    load: async () => (await import("./run.ts")).defineRun,
  },
  {
    name: "chat",
    about: "hold a conversation in the terminal; in a pipe each line is a message",
    load: async () => (await import("./chat/chat.ts")).defineChat,
  },
  {
    name: "tail",
    about: "follow a run's log from any point to its end",
    load: async () => (await import("./run.ts")).defineTail,
  },
  {
    name: "runs",
    about: "list runs, show one and its tree, cancel",
    load: async () => (await import("./runs.ts")).defineRuns,
  },
  {
    name: "sessions",
    about: "list sessions, show one and its conversation, delete, purge",
    load: async () => (await import("./sessions.ts")).defineSessions,
  },
  {
    name: "files",
    about: "list, show and save what agents have written in the work directory of a session",
    load: async () => (await import("./files.ts")).defineFiles,
  },
  {
    name: "schedules",
    about: "start runs by the clock: list, show, create, pause, resume, trigger, delete",
    load: async () => (await import("./schedules.ts")).defineSchedules,
  },
  {
    name: "callbacks",
    about: "list status callbacks, and send dead ones again",
    load: async () => (await import("./callbacks.ts")).defineCallbacks,
  },
  {
    name: "approvals",
    about: "list what runs ask a person for, and decide",
    load: async () => (await import("./approvals.ts")).defineApprovals,
  },
  {
    name: "mcp",
    about:
      "serve the agents of a service as tools over standard input and output (MCP); list, call and test servers of tools",
    load: async () => (await import("./mcp/commands.ts")).defineMcp,
  },
  {
    name: "acp",
    about: "serve the agents of a service to an editor over standard input and output (ACP)",
    load: async () => (await import("./acp/acp.ts")).defineAcp,
  },
  {
    name: "record",
    about: "write a finished run to a file that `replay` checks",
    load: async () => (await import("./record.ts")).defineRecord,
  },
  {
    name: "replay",
    about: "replay a recorded run with this version, offline, and show where the log differs",
    load: async () => (await import("./record.ts")).defineReplay,
  },
  {
    name: "usage",
    about: "show what your runs used today (UTC), and your budget",
    load: async () => (await import("./usage.ts")).defineUsage,
  },
  {
    name: "keys",
    about: "manage API keys of clients (requires RUNNEL_ADMIN_TOKEN); make secrets and key pairs offline",
    load: loadKeys,
  },
  {
    name: "receipt",
    about: "fetch the signed receipt of an ended run, and its log; `runnel verify` checks them",
    load: async () => (await import("./receipt.ts")).defineReceipt,
  },
  {
    name: "verify",
    about: "check a signed file, such as the receipt of a run and its log; works offline",
    load: loadVerify,
  },
  {
    name: "providers",
    about: "list the model providers and their circuit breakers; requires RUNNEL_ADMIN_TOKEN",
    load: async () => (await import("./providers.ts")).defineProviders,
  },
  {
    name: "demo",
    about: "see a run survive kill -9; needs no key and no database, leaves nothing behind",
    load: async () => (await import("./demo.ts")).defineDemo,
  },
];

/** All commands except `completion`, which needs this list. */
export const commandList: readonly CommandEntry[] = [...coreCommands, ...protocols.flatMap(({ commands }) => commands)];

async function loadKeys(): Promise<Define> {
  const { defineKeys } = await import("./keys.ts");
  const more = await Promise.all(protocols.flatMap((protocol) => protocol.loadKeys?.() ?? []));
  return (command) => {
    for (const define of [defineKeys, ...more]) {
      define(command);
    }
  };
}

async function loadVerify(): Promise<Define> {
  const { defineVerify } = await import("./verify.ts");
  const load = protocols.find(({ loadSignedFormat }) => loadSignedFormat !== undefined)?.loadSignedFormat;
  const format = await load?.();
  return (command) => defineVerify(command, format);
}
