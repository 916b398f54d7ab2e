// SearchRuns: runs by the words in their texts.

import { create, toBinary } from "@bufbuild/protobuf";
import {
  type SearchRunsRequest,
  SearchRunsRequestSchema,
  type SearchRunsResponse,
  SearchRunsResponseSchema,
} from "#gen/runnel/v1/run_service_pb.js";
import { runsToProto } from "../engine/runs/to-proto.ts";
import { snippetOf, wordsOfQuery } from "../engine/search/words.ts";
import { searchRunTexts } from "../engine/storage/run-text.ts";
import { Fault, invalidField } from "../platform/base/fault.ts";
import type { ServiceDeps } from "./deps.ts";
import { nextTokenOf } from "./page.ts";
import { toDate } from "./run-filter.ts";

const pageSizeDefault = 20;
/** Each match costs a read of its text. */
const pageSizeMax = 50;

/**
 * Returns a page of runs whose texts match.
 * @throws Fault SEARCH_OFF, INVALID_ARGUMENT for a query without a word, CURSOR_INVALID.
 */
export async function searchRuns(
  deps: ServiceDeps,
  client: string,
  request: SearchRunsRequest,
): Promise<SearchRunsResponse> {
  const { sessionId, agentName, annotation, createTimeFrom, createTimeTo } = request;
  if (!deps.config.runsSearch) {
    throw new Fault("SEARCH_OFF", "the service keeps no texts of runs: the setting runs.search is off");
  }
  const query = wordsOfQuery(request.query);
  if (query === "") {
    throw invalidField("query", "must have a word: letters or digits");
  }
  const filters = toBinary(SearchRunsRequestSchema, { ...request, pageSize: 0, pageToken: "" });
  const scope = ["search", client, Buffer.from(filters).toString("base64")];
  const before = deps.cursors.decode(scope, request.pageToken);
  const limit = Math.min(request.pageSize === 0 ? pageSizeDefault : request.pageSize, pageSizeMax);
  const search = {
    client,
    query,
    sessionName: sessionId || undefined,
    agentName: agentName || undefined,
    annotation: annotation === "" ? undefined : splitAnnotation(annotation),
    createTimeFrom: toDate(createTimeFrom),
    createTimeTo: toDate(createTimeTo),
  };
  const page = await searchRunTexts(deps.db, search, { before, limit });
  const runs = await runsToProto(deps, page.rows);
  return create(SearchRunsResponseSchema, {
    matches: page.rows.map(({ text }, index) => ({ run: runs[index], snippet: snippetOf(text, query) })),
    nextPageToken: nextTokenOf(page, ({ id }) => deps.cursors.encode(scope, id)),
  });
}

function splitAnnotation(annotation: string): readonly [name: string, value: string] {
  const at = annotation.indexOf("=");
  return [annotation.slice(0, at), annotation.slice(at + 1)];
}
