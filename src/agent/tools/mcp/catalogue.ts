// Lists the tools of a server, as a run keeps them: bounded, and with names that models can call.

import { Fault } from "../../../platform/base/fault.ts";
import { isObject } from "../../../platform/base/json/parse-object.ts";
import { serverToolNameOf } from "../../../platform/base/mcp-names.ts";
import { isDeeper } from "../depth.ts";
import type { McpConnection } from "./connection.ts";
import { descriptionCharsMax, listTimeoutMs, pagesMax, schemaBytesMax, toolsMax } from "./limits.ts";
import { findHeaderProblem } from "./param-headers.ts";

/** A tool as a server lists it, as far as a run needs it. Another member, or one of another type, is as if it were missing. */
interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly annotations: Annotations | undefined;
}

/** What a server says of a tool's effects. */
export type Annotations = Readonly<Partial<Record<(typeof effects)[number], boolean>>>;

const effects = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/** A tool of a server, as a checkpoint holds it. */
export interface KeptTool {
  /** The name of the server in the agent. */
  readonly server: string;
  /** The tool's name, as the server writes it. */
  readonly tool: string;
  /** The name that the model sees. */
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the arguments, as the server writes it. */
  readonly schema: string;
}

/** What a server says of a tool for people. No run needs it. */
export interface ToolHints {
  /** The name that the model sees. */
  readonly name: string;
  /** Empty without one. */
  readonly title: string;
  readonly annotations: Annotations | undefined;
}

/** How a list is made. */
export interface ListOptions {
  /** The name of the server in the agent. */
  readonly server: string;
  readonly prefix: string;
  /** Empty means all. */
  readonly allowedTools: readonly string[];
  readonly signal: AbortSignal;
  /** Takes a problem of a tool that is left out. */
  readonly tell: (problem: string) => void;
  /** Hides the secrets of the server. */
  readonly hide: (text: string) => string;
  /** True leaves out what the agent names and the server lacks. */
  readonly mayLack?: boolean;
}

/** The tools of a server. */
export interface ListedTools {
  readonly tools: KeptTool[];
  readonly hints: readonly ToolHints[];
  /** How long the list may be kept, in milliseconds. */
  readonly ttlMs: number;
}

/** Returns the tools. Throws a Fault when there are too many, or when one that the agent names is missing. */
export async function listTools(connection: McpConnection, options: ListOptions): Promise<ListedTools> {
  const { server, allowedTools, mayLack = false } = options;
  const allowed = new Set(allowedTools);
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(listTimeoutMs)]);
  const listed = new Map<string, ListedTool>();
  let cursor: string | undefined;
  let ttlMs = Number.POSITIVE_INFINITY;
  for (let count = 0; count < pagesMax; count++) {
    const page = await connection.listTools(cursor, signal);
    ttlMs = Math.min(ttlMs, page.ttlMs);
    const tools = page.tools.flatMap((each) => readTool(each) ?? []);
    if (tools.length < page.tools.length) {
      options.tell(`${server}: a tool without a name was left out`);
    }
    for (const tool of tools.filter(({ name }) => allowed.size === 0 || allowed.has(name))) {
      listed.set(tool.name, tool);
    }
    if (listed.size > toolsMax) {
      throw refuse(`it lists more than ${toolsMax} tools: name those that the agent needs in allowed_tools`);
    }
    cursor = page.nextCursor;
    if (cursor === undefined || (allowed.size > 0 && listed.size === allowed.size)) {
      break;
    }
  }
  const missing = allowedTools.filter((name) => !listed.has(name));
  if (missing.length > 0 && !mayLack) {
    throw refuse(`it has no tool ${missing.map((name) => JSON.stringify(name)).join(", ")}`);
  }
  const tools = [...listed.values()].flatMap((tool) => {
    const kept = keep(tool, options);
    if (typeof kept === "string") {
      options.tell(`${server}: ${tool.name.slice(0, nameShownMax).toWellFormed()}: the tool was left out: ${kept}`);
      return [];
    }
    return [kept];
  });
  const hints = tools.flatMap(({ tool, name }) => hintsOf(name, listed.get(tool), options));
  return { tools, hints, ttlMs };
}

/** How the list of a server differs from that of a run, by names as the server writes them. */
export interface ToolsChange {
  readonly server: string;
  readonly added: string[];
  readonly removed: string[];
  readonly changed: string[];
}

/** Compares the list of a run with that of the server now. */
export function compareTools(server: string, kept: readonly KeptTool[], now: readonly KeptTool[]): ToolsChange {
  const known = new Map(kept.map((each) => [each.tool, each]));
  const names = new Set(now.map(({ tool }) => tool));
  const isSame = ({ tool, description, schema }: KeptTool): boolean =>
    known.get(tool)?.description === description && known.get(tool)?.schema === schema;
  return {
    server,
    added: now.flatMap(({ tool }) => (known.has(tool) ? [] : tool.toWellFormed())),
    removed: kept.flatMap(({ tool }) => (names.has(tool) ? [] : tool.toWellFormed())),
    changed: now.flatMap((each) => (known.has(each.tool) && !isSame(each) ? each.tool.toWellFormed() : [])),
  };
}

const nameShownMax = 128;
const titleCharsMax = 256;
const nameCharsMax = 512;
/** As for the schemas of other tools. */
const depthMax = 64;

function refuse(problem: string): Fault {
  return new Fault("INVALID_ARGUMENT", problem);
}

function readTool(tool: unknown): ListedTool | undefined {
  const { name, title, description, inputSchema, annotations } = isObject(tool) ? tool : {};
  if (typeof name !== "string" || name === "") {
    return undefined;
  }
  const hints = isObject(annotations) ? annotations : undefined;
  const shown = textOf(title) ?? textOf(hints?.title) ?? "";
  return {
    ...{ name, title: shown, description: textOf(description) ?? shown, inputSchema: inputSchema ?? {} },
    annotations:
      hints &&
      Object.fromEntries(effects.map((each) => [each, typeof hints[each] === "boolean" ? hints[each] : undefined])),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function hintsOf(name: string, tool: ListedTool | undefined, { hide }: ListOptions): ToolHints {
  const title = hide(tool?.title ?? "");
  return { name, title: title.slice(0, titleCharsMax).toWellFormed(), annotations: tool?.annotations };
}

/** Returns the tool as it is kept, or why it is left out. */
function keep(tool: ListedTool, { server, prefix, hide }: ListOptions): KeptTool | string {
  const { name, description, inputSchema } = tool;
  if (name.length > nameCharsMax) {
    return `its name is longer than ${nameCharsMax} characters`;
  }
  if (isDeeper(inputSchema, depthMax)) {
    return `its schema is nested more than ${depthMax} levels deep`;
  }
  const schema = hide(JSON.stringify(inputSchema));
  const bytes = Buffer.byteLength(schema);
  if (bytes > schemaBytesMax) {
    return `its schema has ${bytes} bytes (max ${schemaBytesMax})`;
  }
  const problem = findHeaderProblem(inputSchema);
  if (problem !== undefined) {
    return problem;
  }
  const words = hide(description).slice(0, descriptionCharsMax).toWellFormed();
  return { server, tool: name, name: serverToolNameOf(prefix, name), description: words, schema };
}
