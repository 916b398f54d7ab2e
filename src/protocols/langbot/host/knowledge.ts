// Searches the knowledge bases that a run was granted.

import type { RetrieveKnowledgeRequest } from "#gen/runnel/host/v1/host_knowledge_service_pb.js";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { readObjectText } from "../../../platform/base/json/object-text.ts";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import { EntryUnfit, findKnowledgeBase, type KnowledgeHit, searchKnowledge } from "../storage/knowledge.ts";
import type { HostRun } from "./access.ts";

/** A source of knowledge. */
export interface KnowledgeSource {
  /**
   * Returns the best entries first, or undefined when the knowledge base is unknown. Throws Fault INVALID_ARGUMENT for unusable
   * filters.
   */
  find(search: KnowledgeSearch): Promise<readonly FoundEntry[] | undefined>;
}

/** A search in a knowledge base. */
export interface KnowledgeSearch {
  readonly client: string;
  readonly kbId: string;
  readonly text: string;
  /** A JSON object: the members that an entry's metadata must have. */
  readonly filters: string;
  readonly entriesMax: number;
  /** The maximum bytes of contents and metadata together. */
  readonly bytesMax: number;
}

/** An entry that matches a search. */
export interface FoundEntry {
  readonly id: string;
  readonly content: string;
  /** A JSON object, as the client wrote it. */
  readonly metadata: string;
  readonly score: number;
}

/** Dependencies of the knowledge action. */
export interface KnowledgeDeps {
  readonly knowledge: KnowledgeSource;
}

const entriesDefault = 5;
const entriesMax = 100;
const queryBytesMax = 8_192;
/** The maximum bytes of the results: leaves room in a message of 4 MiB for the rest. */
const resultsBytesMax = 3 * 1_048_576;

/** Returns the best entries as JSON objects. Throws Fault RESOURCE_NOT_FOUND when the knowledge base was deleted. */
export async function retrieveKnowledge(
  { knowledge }: KnowledgeDeps,
  { scope }: Pick<HostRun, "scope">,
  { kbId, queryText, topK, filters }: RetrieveKnowledgeRequest,
): Promise<string[]> {
  assertQuery(queryText);
  if (topK < 0 || topK > entriesMax) {
    throw invalidField("top_k", `is ${topK}: give 1 to ${entriesMax}, or 0 for ${entriesDefault}`);
  }
  const found = await knowledge.find({
    client: scope.client,
    kbId,
    text: queryText,
    filters: filters === undefined || filters === "" ? "{}" : readObjectText(filters, "filters").text,
    entriesMax: topK === 0 ? entriesDefault : topK,
    bytesMax: resultsBytesMax,
  });
  if (found === undefined) {
    throw new Fault("RESOURCE_NOT_FOUND", `knowledge base ${JSON.stringify(kbId)} no longer exists`);
  }
  return takeFitting(found.map(printEntry));
}

/** Creates a source on the full-text search of the service's own database. */
export function createPostgresKnowledge(db: Db): KnowledgeSource {
  return {
    find: async ({ client, kbId, text, filters, entriesMax: rowsMax, bytesMax }) => {
      const hits = await search(db, { client, kbId, text, filters, rowsMax, bytesMax });
      const isGone = hits.length === 0 && (await findKnowledgeBase(db, client, kbId)) === undefined;
      return isGone ? undefined : hits.map(({ entry_id: id, ...hit }) => ({ id, ...hit }));
    },
  };
}

async function search(db: Db, query: Parameters<typeof searchKnowledge>[1]): Promise<KnowledgeHit[]> {
  try {
    return await searchKnowledge(db, query);
  } catch (error) {
    if (error instanceof EntryUnfit) {
      throw invalidField("filters", "contains a number or a character that metadata cannot have: remove it");
    }
    throw error;
  }
}

function assertQuery(text: string): void {
  if (text.trim() === "") {
    throw invalidField("query_text", "is empty: give the text to search for");
  }
  if (Buffer.byteLength(text) > queryBytesMax) {
    throw invalidField("query_text", `has ${Buffer.byteLength(text)} bytes: give at most ${queryBytesMax}`);
  }
  if (!isStorableText(text)) {
    throw invalidField("query_text", "contains a NUL character: remove it");
  }
}

function printEntry({ id, content, metadata, score }: FoundEntry): string {
  const text = JSON.stringify({ id, content });
  return `${text.slice(0, -1)},"metadata":${metadata},"score":${score}}`;
}

/** Returns the best entries that fit into an answer. As JSON a text may be longer than in the database. */
function takeFitting(printed: readonly string[]): string[] {
  let leftBytes = resultsBytesMax;
  const fitting = printed.filter((entry) => {
    leftBytes -= Buffer.byteLength(entry);
    return leftBytes >= 0;
  });
  if (fitting.length === 0 && printed.length > 0) {
    throw new Fault("PAYLOAD_TOO_LARGE", "the best entry is larger than the maximum answer: split it");
  }
  return fitting;
}
