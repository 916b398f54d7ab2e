// The MCP servers of a run: their tools, and the connections with them.
//
// S1  A run keeps the list of tools with which it began, on every replica: its checkpoint has it. It tells when the server has another.
// S2  A connection is opened when it is needed, opened anew when it has broken, and closed with the run.
// S3  A program is started at most twice for a run: one that dies again and again is broken.

import type { McpServer } from "#gen/runnel/v1/session_pb.js";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { McpAddress, McpServerSetting } from "../../../platform/config/mcp-servers.ts";
import { secretsOfAddress } from "../../../platform/config/mcp-servers.ts";
import type { Egress } from "../../../platform/egress/post.ts";
import { createHider } from "../../../platform/telemetry/scrub.ts";
import type { Tool, ToolContext } from "../tool.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { failed, findAddress } from "./address.ts";
import { compareTools, type KeptTool, listTools, type ToolHints, type ToolsChange } from "./catalogue.ts";
import { connectHttp, type McpConnection, timesOf } from "./connection.ts";
import { describeFailure, isPassing } from "./failure.ts";
import { FormCalls } from "./form-calls.ts";
import { listsBytesMax } from "./limits.ts";
import { createMcpTool } from "./mcp-tool.ts";
import type { McpPrograms } from "./programs.ts";
import { listKeyOf, type ToolLists } from "./tool-lists.ts";

/** What the servers need. */
export interface McpOptions {
  readonly egress: Pick<Egress, "open" | "findProblem">;
  readonly clock: Clock;
  readonly programs: McpPrograms;
  readonly settings: readonly McpServerSetting[];
}

/** What the servers of a run need, too. */
export interface RunServersOptions extends McpOptions {
  readonly tokens: AccessTokens;
  readonly lists: ToolLists;
}

/** A run that uses servers. */
export interface McpRun {
  /** Where programs work, and the signal of the run. */
  readonly openContext: () => Promise<ToolContext>;
  readonly client: string;
  readonly signal: AbortSignal;
  /** The tools that the run has kept; undefined at its start. */
  readonly kept: readonly KeptTool[] | undefined;
  /** Names of other tools of the agent. */
  readonly taken: readonly string[];
  /** Takes a problem of a tool, which is left out or mended. */
  readonly tell: (problem: string) => void;
  /** Takes how the list of a server differs from the kept one, each time that it differs in another way. Unset where no log has it. */
  readonly changed?: (change: ToolsChange) => void;
}

/** The tools of a run's servers. Disposing closes the connections. */
export interface McpTools extends AsyncDisposable {
  readonly tools: readonly Tool[];
  readonly kept: readonly KeptTool[];
  /** What the servers say of their tools for people; empty for tools that the run has kept. */
  readonly hints: readonly ToolHints[];
}

/** Returns the tools of an agent's servers. Throws a Fault when a server gives no list. */
export async function openServers(
  servers: readonly McpServer[],
  run: McpRun,
  options: RunServersOptions,
): Promise<McpTools> {
  const opened = servers.map((server) => new ServerOfRun(server, run, options));
  const close = async (): Promise<void> => void (await Promise.all(opened.map((each) => each.close())));
  try {
    const kept = run.kept ?? (await Promise.all(opened.map((each) => each.list()))).flat();
    assertSmall(kept);
    assertDistinct(kept, run.taken);
    const tools = kept.flatMap((each) => opened.find(({ name }) => name === each.server)?.toolOf(each) ?? []);
    const hints = opened.flatMap((each) => each.hints);
    return { tools, kept, hints, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function assertSmall(kept: readonly KeptTool[]): void {
  const bytes = Buffer.byteLength(JSON.stringify(kept));
  if (bytes > listsBytesMax) {
    throw new Fault(
      "INVALID_ARGUMENT",
      `the tools of the mcp servers have ${bytes} bytes together (max ${listsBytesMax}): name those that the agent needs in allowed_tools`,
    );
  }
}

function assertDistinct(kept: readonly KeptTool[], taken: readonly string[]): void {
  const names = new Map<string, string>(taken.map((name) => [name, ""]));
  for (const { server, tool, name } of kept) {
    const other = names.get(name);
    if (other !== undefined) {
      const way = other === server ? "name one of them in allowed_tools" : "set another prefix";
      throw failed(server, `its tool ${tool} would be ${name}, and the agent has another tool ${name}: ${way}`);
    }
    names.set(name, server);
  }
}

/** The delays before the attempts to reach a server at the start of a run. */
const retryDelaysMs = [500, 1_500];
const programStartsMax = 2;

/** The maximum number of comparisons of a run with one server, which may say all the time that its list has changed. */
const comparisonsMax = 16;

/** Returns a function that hides the secrets of a server, and the access tokens that it has got. */
function createAddressHider(address: McpAddress, tokens: AccessTokens): (text: string) => string {
  const secrets = secretsOfAddress(address);
  const oauth = address.kind === "program" ? undefined : address.oauth;
  let known: readonly string[] | undefined;
  let hide = createHider(secrets);
  return (text) => {
    const values = oauth && tokens.valuesOf(oauth);
    if (values !== undefined && values !== known) {
      known = values;
      hide = createHider([...secrets, ...values]);
    }
    return hide(text);
  };
}

class ServerOfRun {
  readonly #server: McpServer;
  readonly #run: McpRun;
  readonly #options: RunServersOptions;
  readonly #address: McpAddress;
  readonly #hide: (text: string) => string;
  /** Undefined when the server may ask for no forms. */
  readonly #formCalls: FormCalls | undefined;
  /** Equal for runs of a client that see the same list. Some servers have tools only for clients with forms. */
  readonly #listKey: string;
  /** Set with the list. */
  hints: readonly ToolHints[] = [];
  /** The list of the run; undefined until it is made. */
  #kept: readonly KeptTool[] | undefined;
  #connecting: Promise<McpConnection> | undefined;
  #connected = false;
  #starts = 0;
  #comparisons = 0;
  #isComparing = false;
  /** True when the list may have changed again during the comparison. */
  #isOutdated = false;
  #isClosed = false;
  /** The last reported difference, as JSON. */
  #reported = "";

  constructor(server: McpServer, run: McpRun, options: RunServersOptions) {
    const address = findAddress(server, run.client, options.settings);
    if (address === undefined) {
      throw failed(server.name, "it is no longer in the settings");
    }
    this.#server = server;
    this.#run = run;
    this.#options = options;
    this.#address = address;
    this.#hide = createAddressHider(address, options.tokens);
    const { name, prefix, allowedTools, forms } = server;
    this.#formCalls = forms
      ? new FormCalls({ ...timesOf(server), server: name, clock: options.clock, hide: this.#hide })
      : undefined;
    this.#listKey = listKeyOf([run.client, address, name, prefix, allowedTools, forms]);
    this.#kept = run.kept?.filter((each) => each.server === name);
    // Another replica has connected to it, or this one before the run waited.
    this.#connected = this.#kept !== undefined;
    this.#reported = JSON.stringify(compareTools(name, [], []));
  }

  get name(): string {
    return this.#server.name;
  }

  /** Returns the tools that the server has now, which the run keeps. */
  async list(): Promise<readonly KeptTool[]> {
    const tools = await this.#listWithRetries();
    this.#kept = tools;
    return tools;
  }

  async #listWithRetries(): Promise<readonly KeptTool[]> {
    const { clock, lists } = this.#options;
    const { signal, tell } = this.#run;
    const known = lists.find(this.#listKey);
    if (known !== undefined) {
      known.problems.forEach(tell);
      this.hints = known.hints;
      return known.tools;
    }
    for (const delayMs of [...retryDelaysMs, undefined]) {
      try {
        return await this.#listOnce();
      } catch (error) {
        signal.throwIfAborted();
        if (delayMs === undefined || !isPassing(error)) {
          throw error instanceof Fault && error.message.startsWith("mcp server")
            ? error
            : failed(this.name, this.#hide(describeFailure(error)), error);
        }
        await clock.sleep(delayMs, signal);
      }
    }
    return [];
  }

  /** Returns the tool; nothing when no provider would accept its schema. */
  toolOf(kept: KeptTool): Tool[] {
    const { approve, repeatable } = this.#server;
    const has = (names: readonly string[]): boolean => names.includes("*") || names.includes(kept.tool);
    const tool = createMcpTool(
      kept,
      {
        ...timesOf(this.#server),
        clock: this.#options.clock,
        needsApproval: has(approve),
        afterCrash: has(repeatable) ? "again" : "report",
        formCalls: this.#formCalls,
        connect: () => this.#connect(),
        refused: () => {
          this.#options.lists.forget(this.#listKey);
          void this.#compare();
        },
        hide: this.#hide,
      },
      this.#run.tell,
    );
    return tool === undefined ? [] : [tool];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = await this.#connecting?.catch(() => undefined);
    await connection?.close();
  }

  async #listOnce(): Promise<readonly KeptTool[]> {
    const { prefix = `${this.name}_`, allowedTools } = this.#server;
    const { signal, tell } = this.#run;
    const problems: string[] = [];
    const { tools, hints, ttlMs } = await listTools(await this.#connect(), {
      ...{ server: this.name, prefix, allowedTools, signal, hide: this.#hide },
      tell: (problem) => problems.push(this.#hide(problem)),
    });
    problems.forEach(tell);
    this.hints = hints;
    // A program starts with the session, and its list costs little.
    this.#options.lists.keep(this.#listKey, { tools, hints, problems }, this.#address.kind === "program" ? 0 : ttlMs);
    return tools;
  }

  /** Tells how the list of the server differs from that of the run. Never rejects: nothing depends on it. */
  async #compare(): Promise<void> {
    const { changed, signal } = this.#run;
    const kept = this.#kept;
    const isOver = this.#isClosed || this.#comparisons >= comparisonsMax;
    if (changed === undefined || kept === undefined || isOver) {
      return;
    }
    if (this.#isComparing) {
      this.#isOutdated = true;
      return;
    }
    this.#comparisons += 1;
    this.#isComparing = true;
    this.#isOutdated = false;
    try {
      const { prefix = `${this.name}_`, allowedTools } = this.#server;
      const { tools } = await listTools(await this.#connect(), {
        ...{ server: this.name, prefix, allowedTools, signal, hide: this.#hide, mayLack: true },
        tell: () => {},
      });
      const change = compareTools(this.name, kept, tools);
      const difference = this.#hide(JSON.stringify(change));
      if (difference !== this.#reported && !this.#isClosed) {
        this.#reported = difference;
        this.#options.lists.forget(this.#listKey);
        changed(JSON.parse(difference));
      }
    } catch {
      // The next call meets the same trouble, and reports it.
    }
    this.#isComparing = false;
    if (this.#isOutdated) {
      await this.#compare();
    }
  }

  /** All calls share one connection. */
  async #connect(): Promise<McpConnection> {
    if (this.#isClosed) {
      throw new Error("the run has closed its servers");
    }
    const connecting = this.#connecting;
    const known = await connecting?.catch(() => undefined);
    if (known?.isOpen() === true) {
      return known;
    }
    // Another call may have begun to connect meanwhile.
    if (this.#connecting === connecting) {
      this.#connecting = this.#start();
      await known?.close();
    }
    return await (this.#connecting ?? this.#connect());
  }

  async #start(): Promise<McpConnection> {
    const connection = await this.#open();
    const formCalls = this.#formCalls;
    const leave = [
      connection.onListChanged(() => void this.#compare()),
      ...(formCalls === undefined ? [] : [connection.onForm((form) => formCalls.answer(form))]),
    ];
    const isAgain = this.#connected;
    this.#connected = true;
    if (isAgain) {
      void this.#compare();
    }
    return {
      ...connection,
      close: async () => {
        for (const each of leave) {
          each();
        }
        await connection.close();
      },
    };
  }

  async #open(): Promise<McpConnection> {
    const { egress, programs, tokens } = this.#options;
    const { signal, openContext } = this.#run;
    const address = this.#address;
    const { forms } = this.#server;
    if (address.kind !== "program") {
      const { oauth, url } = address;
      const tokenOf = oauth && ((refused: string | undefined) => tokens.get(oauth, url, refused));
      return await connectHttp(address, { egress, signal, tokenOf, forms });
    }
    this.#starts += 1;
    if (this.#starts > programStartsMax) {
      throw new Error("the program of the server has ended twice in this run: it is not started again");
    }
    return await programs.lease(this.name, address, await openContext(), forms);
  }
}
