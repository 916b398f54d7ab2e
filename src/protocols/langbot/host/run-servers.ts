// The MCP servers of runs that call them through this replica. Any replica may get a call, and its next call to the same server finds
// its connection, and with it the server's own session.
//
// V1  A run has the tools that its servers listed at its start, on every replica.
// V2  Connections are closed some time after the last call of their run.

import type { KeptTool } from "../../../agent/tools/mcp/catalogue.ts";
import type { McpTools } from "../../../agent/tools/mcp/run-servers.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import type { Toolbox } from "../../../agent/tools/toolbox.ts";
import type { WorkDirs } from "../../../engine/sessions/work-dirs.ts";
import { findSessionOfRun } from "../../../engine/storage/session.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { IdlePool, type Lease } from "../../../platform/base/idle-pool.ts";
import type { Db } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import { type KeptServers, keptServersFromBytes } from "../runners/kept-servers.ts";
import { findServersOfRun } from "../storage/remote-run.ts";

/** What the servers need. */
export interface RunServersDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly toolbox: Pick<Toolbox, "mcp">;
  readonly workDirs: Pick<WorkDirs, "open">;
  /** How long connections stay open without a call. */
  readonly idleMs: number;
}

/** The session in whose directory the programs of servers work. */
interface Place {
  readonly id: string;
  readonly client: string;
  readonly name: string;
}

/** How servers are opened. */
interface Opening extends Pick<KeptServers, "servers"> {
  readonly session: Place;
  readonly kept: readonly KeptTool[] | undefined;
  readonly taken: readonly string[];
  readonly signal: AbortSignal;
  readonly tell: (problem: string) => void;
}

/** Opens servers for a run of a runner. */
export async function openServers(
  { toolbox, workDirs }: Pick<RunServersDeps, "toolbox" | "workDirs">,
  { servers, session, kept, taken, signal, tell }: Opening,
): Promise<McpTools> {
  const { client, name: sessionId } = session;
  const openContext = async (): Promise<ToolContext> => ({
    ...(await workDirs.open(session, undefined)),
    ...{ sessionId, signal },
  });
  return await toolbox.mcp.open(servers, { client, signal, kept, taken, tell, openContext });
}

/** The maximum number of runs whose servers are open: far more than a replica has runs that call tools within the idle time. */
const runsMax = 1_000;

/** The servers of this replica's calls. */
export class RunServers {
  readonly #deps: RunServersDeps;
  readonly #opened: IdlePool<McpTools>;
  readonly #closing = new AbortController();

  constructor(deps: RunServersDeps) {
    this.#deps = deps;
    const { clock, idleMs } = deps;
    this.#opened = new IdlePool({ clock, idleMs, close: async (tools) => await tools[Symbol.asyncDispose]() });
  }

  /** Returns the tools of a run's servers. Throws a Fault when a server is no longer permitted. */
  async lease(runId: string): Promise<Lease<McpTools>> {
    return await this.#opened.lease(runId, () => this.#open(runId));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opened.close();
  }

  async #open(runId: string): Promise<McpTools> {
    if (this.#opened.size >= runsMax) {
      throw new Fault("BUSY", `this replica has the servers of ${runsMax} runs open: call again later`);
    }
    const { db } = this.#deps;
    const [bytes, session] = await Promise.all([findServersOfRun(db, runId), findSessionOfRun(db, runId)]);
    if (bytes === undefined || session === undefined) {
      throw new Fault(reasons.GRANT_REFUSED, "run is not active");
    }
    const { servers, tools: kept } = keptServersFromBytes(bytes);
    const { signal } = this.#closing;
    return await openServers(this.#deps, { servers, session, kept, taken: [], signal, tell: () => {} });
  }
}
