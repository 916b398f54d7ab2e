// The servers of a run without the rest of the service: over the real egress, as the loop opens them.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import { McpServerSchema } from "../../gen/runnel/v1/session_pb.js";
import type { Commands } from "../../src/agent/tools/bash/commands.ts";
import { runCall } from "../../src/agent/tools/call.ts";
import type { KeptTool, ToolsChange } from "../../src/agent/tools/mcp/catalogue.ts";
import { McpPrograms } from "../../src/agent/tools/mcp/programs.ts";
import type { McpTools } from "../../src/agent/tools/mcp/run-servers.ts";
import { createMcpServers, type McpServers } from "../../src/agent/tools/mcp/servers.ts";
import type { ToolContext, ToolOutcome, ToolProgress } from "../../src/agent/tools/tool.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { McpServerSetting } from "../../src/platform/config/mcp-servers.ts";
import type { EgressOptions } from "../../src/platform/egress/post.ts";
import { openEgress } from "../egress/internet.ts";

export interface RunOptions {
  readonly egress?: Partial<EgressOptions>;
  readonly settings?: readonly McpServerSetting[];
  readonly commands?: Pick<Commands, "serve">;
  readonly place?: Pick<ToolContext, "workDir" | "realPath" | "hidden">;
  readonly kept?: readonly KeptTool[];
  readonly idleMs?: number;
  /** The programs of the replica; the run has its own if unset. */
  readonly programs?: McpPrograms;
  readonly sessionId?: string;
  /** The servers of the replica; the run has its own if unset. */
  readonly host?: McpServers;
  readonly client?: string;
  /** Whether another replica continues the run. */
  readonly isHandedOn?: () => boolean;
}

export interface Run extends McpTools {
  /** What was left out. */
  readonly problems: readonly string[];
  readonly progress: readonly ToolProgress[];
  /** How lists of servers differed from the run's. */
  readonly changes: readonly ToolsChange[];
  call(name: string, args?: object, signal?: AbortSignal): Promise<ToolOutcome>;
  /** Continues a call whose task another replica has kept. */
  resume(name: string, task: string): Promise<ToolOutcome>;
}

type ServerFields = Extract<MessageInitShape<typeof McpServerSchema>, { readonly $typeName?: never }>;

/** Opens the programs of a replica, which end with the test. */
export function openPrograms({ commands, idleMs = 60_000 }: Pick<RunOptions, "commands" | "idleMs">): McpPrograms {
  const programs = new McpPrograms({
    commands: commands ?? { serve: () => Promise.reject(new Error("no program is expected")) },
    ...{ clock: systemClock, idleMs, programsMax: 2 },
  });
  onTestFinished(() => programs.close());
  return programs;
}

/** Opens the servers of a replica. */
export function openHost(options: RunOptions = {}): McpServers {
  const { settings = [], egress } = options;
  return createMcpServers({
    egress: openEgress(egress ?? { exceptions: ["127.0.0.1@127.0.0.1/32"] }),
    ...{ clock: systemClock, programs: options.programs ?? openPrograms(options), settings },
  });
}

/** Opens the servers of a run, which ends with the test. */
export async function openRun(servers: readonly ServerFields[], options: RunOptions = {}): Promise<Run> {
  const { place, kept, sessionId = "s1", isHandedOn } = options;
  const { client = "key:app", host = openHost(options) } = options;
  const { signal } = new AbortController();
  const context: ToolContext = {
    ...{ client: "key:app", workDir: "/", realPath: "/", hidden: [], sessionId, signal },
    ...place,
    ...(isHandedOn !== undefined && { isHandedOn }),
  };
  const problems: string[] = [];
  const progress: ToolProgress[] = [];
  const changes: ToolsChange[] = [];
  const opened = await host.open(
    servers.map((fields) => create(McpServerSchema, { name: "srv", ...fields })),
    {
      ...{ client, signal, kept, taken: [] },
      openContext: async () => context,
      tell: (problem) => problems.push(problem),
      changed: (change) => changes.push(change),
    },
  );
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const runTool = async (name: string, args: object, more: Partial<ToolContext>): Promise<ToolOutcome> => {
    const tool = opened.tools.find((each) => each.name === name);
    if (tool === undefined) {
      throw new Error(`no tool ${name}`);
    }
    const report = (each: ToolProgress) => void progress.push(each);
    return await runCall(
      tool,
      JSON.stringify(args),
      { ...context, report, ...more },
      { timeoutMs: 120_000, clock: systemClock },
    );
  };
  return {
    ...opened,
    problems,
    progress,
    changes,
    call: (name, args = {}, stop = signal) => runTool(name, args, { signal: stop }),
    resume: (name, task) => runTool(name, {}, { call: { id: "c1", written: "{}", task, traceParent: undefined } }),
  };
}
