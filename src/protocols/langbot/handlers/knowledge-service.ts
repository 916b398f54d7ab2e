// KnowledgeService: texts that runners search through their host.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { KnowledgeEntry } from "#gen/runnel/runner/v1/knowledge_pb.js";
import type { KnowledgeService, PutKnowledgeEntriesRequest } from "#gen/runnel/runner/v1/knowledge_service_pb.js";
import { nextPageToken, pageSize } from "../../../api/page.ts";
import { requireClient } from "../../../platform/auth/caller.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { readObjectText } from "../../../platform/base/json/object-text.ts";
import { isStorableText, type Transaction } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import {
  deleteKnowledgeBase,
  deleteKnowledgeEntries,
  EntryUnfit,
  findKnowledgeBase,
  holdKnowledgeBase,
  type KnowledgeBaseRow,
  listKnowledgeBases,
  type NewEntry,
  upsertKnowledgeBase,
  upsertKnowledgeEntry,
} from "../storage/knowledge.ts";
import type { LangbotDeps } from "./deps.ts";

/** Creates the handlers of KnowledgeService. */
export function createKnowledgeService({ db, cursors }: LangbotDeps): ServiceImpl<typeof KnowledgeService> {
  return {
    putKnowledgeBase: async ({ knowledgeBase }, { values }) => {
      const { client } = requireClient(values);
      const { kbId = "", name = "" } = knowledgeBase ?? {};
      if (!isStorableText(name)) {
        throw invalidField("knowledge_base.name", nulText);
      }
      return { knowledgeBase: knowledgeBaseToProto(await upsertKnowledgeBase(db, { client, kbId, name })) };
    },
    listKnowledgeBases: async ({ pageSize: requested, pageToken }, { values }) => {
      const { client } = requireClient(values);
      const scope = ["knowledge bases", client];
      const limit = pageSize(requested);
      const rows = await listKnowledgeBases(db, { client, after: cursors.decode(scope, pageToken), limit });
      return {
        knowledgeBases: rows.map(knowledgeBaseToProto),
        nextPageToken: nextPageToken(rows, limit, ({ kb_id: id }) => cursors.encode(scope, id)),
      };
    },
    deleteKnowledgeBase: async ({ kbId }, { values }) => {
      if (!(await deleteKnowledgeBase(db, requireClient(values).client, kbId))) {
        throw notFound();
      }
      return {};
    },
    putKnowledgeEntries: async (request, { values }) => {
      const { client } = requireClient(values);
      const entries = readEntries(request);
      await db.transaction().execute((trx) => writeEntries(trx, { client, kbId: request.kbId }, entries));
      return {};
    },
    deleteKnowledgeEntries: async ({ kbId, entryIds }, { values }) => {
      const { client } = requireClient(values);
      if ((await findKnowledgeBase(db, client, kbId)) === undefined) {
        throw notFound();
      }
      return { deleted: await deleteKnowledgeEntries(db, { client, kbId, entryIds }) };
    },
  };
}

const nulText = "contains a NUL character: remove it";

/** The maximum bytes of a batch. Leaves room for ids and for the rest of the message. */
const batchBytesMax = 3 * 1_048_576;

interface PlacedEntry extends NewEntry {
  /** The path of the entry in the request: `entries[3]`. */
  readonly field: string;
}

function readEntries({ entries }: PutKnowledgeEntriesRequest): PlacedEntry[] {
  const bytes = entries.reduce(
    (sum, { content, metadata }) => sum + Buffer.byteLength(content) + Buffer.byteLength(metadata),
    0,
  );
  if (bytes > batchBytesMax) {
    throw new Fault("PAYLOAD_TOO_LARGE", `the entries have ${bytes} bytes: send at most ${batchBytesMax} at once`);
  }
  const read = entries.map(readEntry);
  const places = new Map<string, string>();
  for (const { entryId, field } of read) {
    const twin = places.get(entryId);
    if (twin !== undefined) {
      throw invalidField(`${field}.entry_id`, `is also the id of ${twin}: give each entry its own id`);
    }
    places.set(entryId, field);
  }
  return read;
}

function readEntry({ entryId, content, metadata }: KnowledgeEntry, index: number): PlacedEntry {
  const field = `entries[${index}]`;
  if (!isStorableText(content)) {
    throw invalidField(`${field}.content`, nulText);
  }
  const object = metadata === "" ? "{}" : readObjectText(metadata, `${field}.metadata`).text;
  return { field, entryId, content, metadata: object };
}

async function writeEntries(
  trx: Transaction,
  { client, kbId }: { client: string; kbId: string },
  entries: readonly PlacedEntry[],
): Promise<void> {
  if ((await holdKnowledgeBase(trx, client, kbId)) === undefined) {
    throw notFound();
  }
  // Written in the order of ids, so that two batches with the same ids cannot deadlock.
  for (const { field, ...entry } of entries.toSorted(byId)) {
    try {
      await upsertKnowledgeEntry(trx, { client, kbId, entry });
    } catch (error) {
      throw error instanceof EntryUnfit ? invalidField(`${field}.${error.part}`, unfitTexts[error.part]) : error;
    }
  }
}

const unfitTexts = {
  content: "has too many different words for the search: split it into several entries",
  metadata: "has a number or a character that cannot be compared: write it as other text",
} as const satisfies Record<EntryUnfit["part"], string>;

function byId(one: PlacedEntry, other: PlacedEntry): number {
  return one.entryId < other.entryId ? -1 : 1;
}

function knowledgeBaseToProto({ kb_id: kbId, name, create_time: createTime }: KnowledgeBaseRow) {
  return { kbId, name, createTime: timestampFromDate(createTime) };
}

function notFound(): Fault {
  return new Fault(reasons.KNOWLEDGE_BASE_NOT_FOUND, "knowledge base not found");
}
