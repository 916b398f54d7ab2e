// The tools memory_read, memory_write and memory_search: notes of agents that outlive their runs. A write is in the transaction that
// stores the outcome of its call, so a run that another replica continues writes nothing twice.

import type { AgentTools } from "#gen/runnel/v1/session_pb.js";
import { scopesOf } from "../../engine/memory/find.ts";
import { type Memory, type MemoryScope, memoryScopes } from "../../engine/memory/owner.ts";
import { readQuery, searchMemory, textOfValue } from "../../engine/memory/search.ts";
import { findKeyProblem } from "../../engine/memory/state-text.ts";
import { type MemoryWritten, memoryKeysMax, memoryValueBytesMax, writeMemory } from "../../engine/memory/write.ts";
import { findStateValue, listStateEntries } from "../../engine/storage/state-value.ts";
import type { Db } from "../../platform/database/database.ts";
import { readInteger, readText, type ToolArguments } from "./arguments.ts";
import type { Tool, ToolContext, ToolEffect, ToolOutcome } from "./tool.ts";

/** The number of entries that a search returns. */
const matchesMax = 10;

/** The memory tools, as far as they do not depend on the memories that an agent may use. */
type MemoryTool = Pick<Tool, "name" | "description"> & {
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly work: (args: ToolArguments, memory: Memory) => Promise<ToolOutcome | ToolEffect>;
};

/** The names of the tools. */
export const memoryToolNames = ["memory_read", "memory_write", "memory_search"] as const;

/** Creates the tools. `forAgent` of each gives it the memories of an agent; without it, it has that of the session. */
export function createMemoryTools({ db }: { readonly db: Db }): readonly Tool[] {
  return [readTool(db), writeTool, searchTool(db)].map((tool) => openTool(tool, undefined));
}

function openTool(tool: MemoryTool, agentTools: AgentTools | undefined): Tool {
  const scopes = scopesOf(agentTools);
  const scope = { type: "string", enum: scopes, description: `Whose memory it is. Default: ${scopes[0]}.` };
  const begin = async (args: ToolArguments, context: ToolContext): Promise<ToolOutcome | ToolEffect> => {
    const memory = findMemory(args, scopes, context);
    return "error" in memory ? memory : await tool.work(args, memory);
  };
  return {
    name: tool.name,
    description: `${tool.description} ${describeScopes(scopes)}`,
    parameters: {
      type: "object",
      properties: { ...tool.properties, ...(scopes.length > 1 && { scope }) },
      required: tool.required,
    },
    afterCrash: "again",
    run: async (args, context) => {
      const outcome = await begin(args, context);
      return "settle" in outcome ? { error: "not run: a write needs a transaction" } : outcome;
    },
    prepare: begin,
    forAgent: (tools) => openTool(tool, tools),
  };
}

function describeScopes(scopes: readonly MemoryScope[]): string {
  const words = scopes.map((scope) => `${scope}: ${meanings[scope]}`);
  return scopes.length === 1 ? `The memory ${meanings[scopes[0] ?? "session"]}.` : `Memories: ${words.join("; ")}.`;
}

const meanings: Readonly<Record<MemoryScope, string>> = {
  session: "lasts as long as this conversation",
  agent: "is shared by all conversations with this agent",
  client: "is shared by all agents and conversations",
};

function findMemory(
  { scope: asked }: ToolArguments,
  scopes: readonly MemoryScope[],
  { findMemory: find }: ToolContext,
): Memory | { readonly error: string } {
  const scope = asked === undefined || asked === null || asked === "" ? scopes[0] : asked;
  const known = memoryScopes.find((each) => each === scope && scopes.includes(each));
  if (known === undefined) {
    return { error: `invalid scope: use ${scopes.join(", ")}` };
  }
  return find?.(known) ?? { error: `there is no memory of the ${known} here` };
}

const keyProperty = { type: "string", description: "Name of the entry, such as `user/name` or `plan`." };

function readTool(db: Db): MemoryTool {
  return {
    name: "memory_read",
    description:
      "Reads your memory, which outlives this run. Without a key it lists all keys: do so before you begin. " +
      "With a key it returns the text of that entry, and its version at the end.",
    properties: { key: { ...keyProperty, description: `${keyProperty.description} Unset lists all keys.` } },
    required: [],
    work: async (args, { owner }) => {
      const key = readText(args, "key");
      if (key === undefined) {
        const entries = await listStateEntries(db, { owner, prefix: "", after: undefined, limit: memoryKeysMax });
        const lines = entries.map((each) => `${each.key} (${each.sizeBytes} bytes, version ${each.version})`);
        return { content: lines.join("\n") || "The memory is empty" };
      }
      const found = key.isWellFormed() ? await findStateValue(db, { owner, key }) : undefined;
      return found === undefined
        ? { error: `no entry ${JSON.stringify(key.slice(0, 300))}: call memory_read without a key to list all keys` }
        : { content: `${textOfValue(found.value)}\n\n[version: ${found.version}]` };
    },
  };
}

const writeTool: MemoryTool = {
  name: "memory_write",
  description:
    "Writes an entry of your memory, which outlives this run: creates it, or replaces all its text. An empty text deletes the entry. " +
    "Write facts, decisions and progress that later runs need. Never write secrets.",
  properties: {
    key: keyProperty,
    content: { type: "string", description: "The whole text of the entry. An empty text deletes it." },
    version: {
      type: "integer",
      description:
        "Writes only if the entry still has this version, as you read it; 0 means that it must be new. Unset writes in any case.",
    },
  },
  required: ["key", "content"],
  work: async (args, memory) => {
    const key = readText(args, "key") ?? "";
    const { content } = args;
    const problem = findKeyProblem(key);
    if (problem !== undefined) {
      return { error: `invalid key: it ${problem}` };
    }
    if (typeof content !== "string") {
      return { error: "content is missing: give the text of the entry, or an empty text to delete it" };
    }
    if (!content.isWellFormed() || content.includes("\0")) {
      return { error: "invalid content: it contains U+0000 or half of a surrogate pair: remove it" };
    }
    const value = content === "" ? undefined : JSON.stringify(content);
    const bytes = value === undefined ? 0 : Buffer.byteLength(value);
    if (bytes > memoryValueBytesMax) {
      return { error: `content too large: ${bytes} bytes, max ${memoryValueBytesMax}; split it, or write a file` };
    }
    const ifVersion = readInteger(args, "version");
    return { settle: async (trx) => outcomeOf(key, await writeMemory(trx, { memory, key, value, ifVersion })) };
  },
};

function outcomeOf(key: string, written: MemoryWritten): ToolOutcome {
  switch (written.kind) {
    case "written":
      return { content: `Wrote ${key} (version ${written.entry.version})` };
    case "deleted":
      return { content: `Deleted ${key}` };
    case "missing":
      return { content: `There was no entry ${key}` };
    case "changed":
      return {
        error:
          written.version === 0
            ? `not written: there is no entry ${key}; use version 0 for a new one`
            : `not written: the entry has version ${written.version} now; read it again, then write the whole text`,
      };
    case "full":
      return { error: `not written: the memory is full: ${written.why}` };
    default:
      return written satisfies never;
  }
}

function searchTool(db: Db): MemoryTool {
  return {
    name: "memory_search",
    description: `Finds entries of your memory whose key or text has all words of a query, at most ${matchesMax}, the newest first.`,
    properties: { query: { type: "string", description: "Words separated by spaces." } },
    required: ["query"],
    work: async (args, { owner }) => {
      const words = readQuery(readText(args, "query") ?? "");
      if ("problem" in words) {
        return { error: `invalid query: it ${words.problem}` };
      }
      const found = await searchMemory(db, { owner, words, limit: matchesMax });
      const lines = found.map(({ entry, excerpt }) => `${entry.key} (version ${entry.version}): ${excerpt}`);
      return { content: lines.join("\n") || "Nothing found" };
    },
  };
}
