// The transcript of the run's conversation. The position of a page is the number of an item, so new items neither shift nor
// repeat it.

import { create } from "@bufbuild/protobuf";
import {
  type PageHistoryRequest,
  type PageHistoryResponse,
  PageHistoryResponseSchema,
  type SearchHistoryRequest,
  type SearchHistoryResponse,
  SearchHistoryResponseSchema,
  type TranscriptItem,
  TranscriptItemSchema,
} from "#gen/runnel/host/v1/host_history_service_pb.js";
import type { Cursors } from "../../../platform/auth/cursor.ts";
import { invalidField } from "../../../platform/base/fault.ts";
import { pageBytesMax } from "../../../platform/database/row-page.ts";
import { historyCursorScope } from "../runners/history-cursor.ts";
import { type ArtifactRow, listArtifactsOfRuns } from "../storage/artifact.ts";
import {
  countHistory,
  type HistoryItemRow,
  type HistoryPageRequest,
  historyItemType,
  readHistoryPage,
  searchHistory,
} from "../storage/history-page.ts";
import { type HostContext, type HostDeps, type HostRun, withHostRun } from "./access.ts";
import { requireConversation, secondsOf } from "./conversation.ts";
import { readSearchFilters } from "./history-filters.ts";
import { countOf, openCursor } from "./page.ts";

/** Dependencies of the history actions. */
export interface HistoryDeps extends HostDeps {
  readonly cursors: Cursors;
}

const searchItemsDefault = 10;
/** The maximum characters of a query: longer ones have no use. */
const queryCharsMax = 256;
/** The maximum artifacts that a page lists. */
const artifactsMax = 500;

/** Returns a page of the transcript, by default the newest items. */
export async function pageHistory(
  deps: HistoryDeps,
  context: HostContext,
  request: PageHistoryRequest,
): Promise<PageHistoryResponse> {
  const { runId, conversationId, roles, itemTypes } = request;
  const filters = { roles, itemTypes, eventTypes: [] };
  const call = { runId, action: "history_page", needs: { api: "history_page" }, resource: conversationId } as const;
  return await withHostRun(deps, context, { ...call, scope: "conversation" }, async (run) => {
    const scope = requireConversation(run, conversationId);
    const place = openPlace(deps.cursors, run, scope, request);
    const limit = countOf("limit", request.limit);
    const { items, hasMore } = await readHistoryPage(deps.db, {
      ...place,
      scope,
      filters,
      limit,
      bytesMax: pageBytesMax,
    });
    const [oldest, newest] = [items[0], items.at(-1)];
    const [first, last] = place.direction === "backward" ? [newest, oldest] : [oldest, newest];
    const cursorAt = cursorsOf(deps.cursors, run, scope);
    const artifacts = request.includeArtifacts ? await findArtifacts(deps, scope, items) : undefined;
    return create(PageHistoryResponseSchema, {
      items: items.map((item) => itemToProto(run, item, cursorAt(item), artifacts?.get(item.run_id))),
      ...(hasMore && last !== undefined && { nextCursor: cursorAt(last) }),
      ...(first !== undefined && { prevCursor: cursorAt(first) }),
      hasMore,
      totalCount: BigInt(await countHistory(deps.db, scope)),
    });
  });
}

/** Searches the transcript for a text. */
export async function searchInHistory(
  deps: HistoryDeps,
  context: HostContext,
  { runId, query, filters: filtersText, topK }: SearchHistoryRequest,
): Promise<SearchHistoryResponse> {
  const call = { runId, action: "history_search", needs: { api: "history_search" }, scope: "conversation" } as const;
  return await withHostRun(deps, context, call, async (run) => {
    const { conversationId, ...filters } = readSearchFilters(filtersText);
    const scope = requireConversation(run, conversationId);
    if (query === "" || query.length > queryCharsMax) {
      throw invalidField("query", `use 1 to ${queryCharsMax} characters`);
    }
    const limit = countOf("top_k", topK, { usual: searchItemsDefault });
    const found = await searchHistory(deps.db, { scope, text: query, filters, limit, bytesMax: pageBytesMax });
    const cursorAt = cursorsOf(deps.cursors, run, scope);
    return create(SearchHistoryResponseSchema, {
      items: found.items.map((item) => itemToProto(run, item, cursorAt(item))),
      totalCount: BigInt(found.total),
      query,
    });
  });
}

type Place = Pick<HistoryPageRequest, "before" | "after" | "direction">;

/**
 * Returns the position and direction of a page. The cursor decides the direction: the protocol's clients send `backward` with
 * each.
 */
function openPlace(cursors: Cursors, run: HostRun, scope: Buffer, request: PageHistoryRequest): Place {
  const { beforeCursor = "", afterCursor = "", direction } = request;
  if (beforeCursor !== "" && afterCursor !== "") {
    throw invalidField("after_cursor", "is set together with before_cursor: send only one of them");
  }
  if (direction !== "" && direction !== "backward" && direction !== "forward") {
    throw invalidField("direction", "use backward or forward");
  }
  const bound = historyCursorScope(run.runId, scope);
  const before = openCursor(cursors, bound, { field: "before_cursor", token: beforeCursor });
  const after = openCursor(cursors, bound, { field: "after_cursor", token: afterCursor });
  if (after !== undefined) {
    return { after, direction: "forward" };
  }
  return { before, direction: before === undefined && direction === "forward" ? "forward" : "backward" };
}

function cursorsOf(cursors: Cursors, run: HostRun, scope: Buffer): (item: HistoryItemRow) => string {
  const bound = historyCursorScope(run.runId, scope);
  return ({ seq }) => cursors.encode(bound, String(seq));
}

function itemToProto(
  { scope: { conversationId, threadId } }: HostRun,
  item: HistoryItemRow,
  cursor: string,
  artifacts: readonly ArtifactRow[] = [],
): TranscriptItem {
  return create(TranscriptItemSchema, {
    transcriptId: item.id,
    eventId: item.event_id,
    ...(conversationId !== undefined && { conversationId }),
    ...(threadId !== undefined && { threadId }),
    role: item.role,
    itemType: historyItemType,
    ...(item.content !== null && { content: item.content }),
    contentJson: item.content_json,
    // Artifacts that a run has made belong to its runner's messages. Artifacts of its event belong to the user's message.
    artifactRefs: artifacts.filter(({ source }) => (source === "event") === (item.role === "user")).map(printReference),
    seq: BigInt(item.seq),
    cursor,
    createdAt: secondsOf(item.create_time),
    metadata: "{}",
  });
}

/** Prints a reference to an artifact, without the runner's own metadata. */
function printReference({ artifact_id, artifact_type, mime_type, name, size_bytes, source }: ArtifactRow): string {
  return JSON.stringify({ artifact_id, artifact_type, mime_type, name, size: size_bytes, source });
}

async function findArtifacts(
  { db }: HostDeps,
  scope: Buffer,
  items: readonly HistoryItemRow[],
): Promise<Map<string, ArtifactRow[]>> {
  const runs = [...new Set(items.map((item) => item.run_id))];
  const rows = await listArtifactsOfRuns(db, { scope, runs, limit: artifactsMax });
  return Map.groupBy(rows, (row) => row.run_id);
}
