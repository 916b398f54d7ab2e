// MemoryService: what agents remember, for the client whose agents they are.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { type Memory, memoryOfAgent, memoryOfClient, memoryOfSession } from "../engine/memory/owner.ts";
import { readQuery, searchMemory } from "../engine/memory/search.ts";
import { findKeyProblem, findValueProblem, trimValue } from "../engine/memory/state-text.ts";
import { type MemoryWritten, memoryValueBytesMax, writeMemory } from "../engine/memory/write.ts";
import { findSession, lockSession } from "../engine/storage/session.ts";
import { findStateValue, listStateEntries, type StateEntry } from "../engine/storage/state-value.ts";
import { requireClient } from "../platform/auth/caller.ts";
import { Fault, invalidField } from "../platform/base/fault.ts";
import type { Db } from "../platform/database/database.ts";
import type { ServiceDeps } from "./deps.ts";
import { nextPageToken, pageSize } from "./page.ts";

const matchesDefault = 10;

/** Returns the handlers of MemoryService. */
export function createMemoryService({ db, cursors }: ServiceDeps): ServiceImpl<typeof MemoryService> {
  return {
    getMemory: async (request, context) => {
      const { owner } = await findMemory(db, context, request);
      const { key } = request;
      const found = findKeyProblem(key) === undefined ? await findStateValue(db, { owner, key }) : undefined;
      if (found === undefined) {
        throw notFound();
      }
      const { value, ...entry } = found;
      return { entry: { ...entryToProto({ ...entry, key, sizeBytes: Buffer.byteLength(value) }), value } };
    },
    listMemory: async (request, context) => {
      const memory = await findMemory(db, context, request);
      const owner = Buffer.from(memory.owner);
      const { keyPrefix: prefix } = request;
      const limit = pageSize(request.pageSize);
      const scope = ["memory", memory.client, owner.toString("hex"), prefix];
      const after = cursors.decode(scope, request.pageToken);
      const rows = await listStateEntries(db, { owner, prefix, after, limit });
      return {
        entries: rows.map(entryToProto),
        nextPageToken: nextPageToken(rows, limit, ({ key }) => cursors.encode(scope, key)),
      };
    },
    searchMemory: async (request, context) => {
      const { owner } = await findMemory(db, context, request);
      const words = readQuery(request.query);
      if ("problem" in words) {
        throw invalidField("query", words.problem);
      }
      const found = await searchMemory(db, { owner, words, limit: request.limit || matchesDefault });
      return { matches: found.map(({ entry, excerpt }) => ({ entry: entryToProto(entry), excerpt })) };
    },
    writeMemory: async (request, context) => {
      const key = readKey(request.key);
      const value = readValue(request.value);
      const written = await write(db, context, request, { key, value, ifVersion: versionOf(request.ifVersion) });
      return written.kind === "written" ? { entry: entryToProto(written.entry) } : {};
    },
    deleteMemory: async (request, context) => {
      const key = readKey(request.key);
      const ifVersion = versionOf(request.ifVersion);
      const written = await write(db, context, request, { key, value: undefined, ifVersion });
      if (written.kind === "missing") {
        throw notFound();
      }
      return {};
    },
  };
}

/** The fields of a request that name a memory; without both it is that of the client. */
interface Asked {
  readonly sessionId: string;
  readonly agent: string;
}

/** Returns the memory that a request names. Throws Fault SESSION_NOT_FOUND. */
async function findMemory(
  db: Db,
  { values }: Pick<HandlerContext, "values">,
  { sessionId: name, agent }: Asked,
  find: (
    db: Db,
    session: { client: string; name: string },
  ) => Promise<{ readonly id: string } | undefined> = findSession,
): Promise<Memory> {
  const { client } = requireClient(values);
  if (name === "") {
    return agent === "" ? memoryOfClient(client) : memoryOfAgent(client, agent);
  }
  const session = await find(db, { client, name });
  if (session === undefined) {
    throw new Fault("SESSION_NOT_FOUND", "session not found");
  }
  return memoryOfSession(client, session.id);
}

interface Write {
  readonly key: string;
  readonly value: string | undefined;
  readonly ifVersion: number | undefined;
}

/** Writes under the lock of the session, so that its deletion finds every entry. */
async function write(
  db: Db,
  context: Pick<HandlerContext, "values">,
  asked: Asked,
  { key, value, ifVersion }: Write,
): Promise<MemoryWritten> {
  const written = await db.transaction().execute(async (trx) => {
    const memory = await findMemory(trx, context, asked, (_, session) => lockSession(trx, session));
    return await writeMemory(trx, { memory, key, value, ifVersion });
  });
  if (written.kind === "changed") {
    const { version } = written;
    const now = version === 0 ? "the entry does not exist" : `the entry has version ${version}`;
    throw new Fault("MEMORY_CHANGED", `${now}, and if_version is ${ifVersion}: read it again`);
  }
  if (written.kind === "full") {
    throw new Fault("MEMORY_FULL", `the memory is full: ${written.why}`);
  }
  return written;
}

function readKey(key: string): string {
  const problem = findKeyProblem(key);
  if (problem !== undefined) {
    throw invalidField("key", problem);
  }
  return key;
}

/** Returns the value as it is stored: a string in the one form that searches know. */
function readValue(text: string): string {
  const value = trimValue(text);
  if (Buffer.byteLength(value) > memoryValueBytesMax) {
    const bytes = Buffer.byteLength(value);
    throw new Fault("PAYLOAD_TOO_LARGE", `value has ${bytes} bytes: maximum ${memoryValueBytesMax}`);
  }
  const problem = value === "" ? "is missing: give any JSON" : findValueProblem(value);
  if (problem !== undefined) {
    throw invalidField("value", problem);
  }
  return value.startsWith('"') ? JSON.stringify(JSON.parse(value)) : value;
}

function versionOf(version: bigint | undefined): number | undefined {
  return version === undefined ? undefined : Number(version);
}

function entryToProto({ key, version, sizeBytes, updateTime }: StateEntry) {
  return { key, version: BigInt(version), sizeBytes, updateTime: timestampFromDate(updateTime) };
}

function notFound(): Fault {
  return new Fault("MEMORY_NOT_FOUND", "the memory has no entry with this key");
}
