// RunService: runs and their logs.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import {
  type ListRunsRequest,
  ListRunsRequest_Order,
  ListRunsRequestSchema,
  type RunService,
  type TailRunRequest,
  type TailRunResponse,
  TailRunResponseSchema,
} from "#gen/runnel/v1/run_service_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { decodeResult, type LogEntry } from "../engine/log/result.ts";
import { assertResultsKept } from "../engine/log/results-kept.ts";
import { beyondEnd, tail } from "../engine/log/tail.ts";
import { cancelRun, cancelRunWithin } from "../engine/runs/cancel.ts";
import { cancelRuns } from "../engine/runs/cancel-runs.ts";
import { runsToProto } from "../engine/runs/to-proto.ts";
import {
  type ClientRun,
  countClientRuns,
  findClientRun,
  listChangedRuns,
  listClientRuns,
} from "../engine/storage/client-run.ts";
import { isActive, markRunDeleted, readRunInput } from "../engine/storage/run.ts";
import { lastSequence, readResultPage } from "../engine/storage/run-result.ts";
import { type Client, requireClient, requireReader } from "../platform/auth/caller.ts";
import { Fault } from "../platform/base/fault.ts";
import type { Sink } from "../platform/base/sink.ts";
import type { Db } from "../platform/database/database.ts";
import { inTransaction } from "../platform/database/in-transaction.ts";
import type { ServiceDeps } from "./deps.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { listModelCalls } from "./list-model-calls.ts";
import { live } from "./live.ts";
import { pageSize } from "./page.ts";
import { readListFilter, readRunFilter } from "./run-filter.ts";
import { searchRuns } from "./search-runs.ts";
import { tailRunTree } from "./tail-run-tree.ts";
import { watchRuns } from "./watch-runs.ts";

/** Returns the handlers of RunService. */
export function createRunService(deps: ServiceDeps): ServiceImpl<typeof RunService> {
  return {
    getRun: async ({ runId, outputCharsMax }, context) => {
      const row = await requireRunWithOutput(deps.db, requireClient(context.values), runId, outputCharsMax);
      const logSequence = isActive(row.status) ? await lastSequence(deps.db, row.id) : row.last_sequence;
      const [run] = await runsToProto(deps, [row], outputCharsMax);
      return { run, logSequence: BigInt(logSequence) };
    },
    getRunInput: async ({ runId }, context) => {
      const { id } = await requireRun(deps.db, requireClient(context.values), runId);
      const input = await readRunInput(deps.db, id);
      if (input === undefined) {
        throw new Fault("RUN_NOT_FOUND", "run not found");
      }
      const agent = hideSecrets(fromBinary(AgentSchema, input.agent));
      return {
        runId,
        messages: input.messages.map((message) => fromBinary(MessageSchema, message)),
        agent: { ...agent, model: input.model ?? agent.model },
        annotations: input.annotations ?? "",
      };
    },
    listRuns: async (request, context) => {
      const { client } = requireClient(context.values);
      const scope = ["runs", client, request.sessionId, ...filtersOf(request)];
      const limit = pageSize(request.pageSize);
      const before = deps.cursors.decode(scope, request.pageToken);
      const filter = readListFilter(client, request);
      const list = request.order === ListRunsRequest_Order.CHANGE_TIME ? listChangedRuns : listClientRuns;
      const { rows, next } = await list(deps.db, filter, { before, limit, outputCharsMax: request.outputCharsMax });
      return {
        runs: await runsToProto(deps, rows, request.outputCharsMax),
        nextPageToken: next === undefined ? "" : deps.cursors.encode(scope, next),
        ...(request.count && { totalSize: await countClientRuns(deps.db, filter, countMax) }),
      };
    },
    searchRuns: (request, context) => searchRuns(deps, requireClient(context.values).client, request),
    deleteRun: async ({ runId }, context) => {
      const { id } = await requireRun(deps.db, requireClient(context.values), runId);
      await deleteRun(deps, id);
      return {};
    },
    watchRuns: (request, context) => watchRuns(deps, requireClient(context.values).client, request, context.signal),
    tailRunTree: async function* (request, { values, signal }) {
      const run = await requireRun(deps.db, requireClient(values), request.runId);
      yield* tailRunTree(deps, run, request.after, signal);
    },
    tailRun: (request, context) => responses(followRun(deps, request, context)),
    listRunResults: async (request, context) => {
      const run = await requireRun(deps.db, requireClient(context.values), request.runId);
      const scope = ["results", run.client, run.id];
      const after = Number(deps.cursors.decode(scope, request.pageToken) ?? 0);
      const rowsMax = pageSize(request.pageSize);
      const rows = await readResultPage(deps.db, { runId: run.id, after, rowsMax, bytesMax: responseBytesMax });
      if (rows.length === 0 && !isActive(run.status) && after < run.last_sequence) {
        await assertResultsKept(deps.db, run.id);
      }
      const reached = rows.at(-1)?.sequence ?? after;
      const hasMore = (await lastSequence(deps.db, run.id)) > reached;
      return {
        results: rows.map((row) => decodeResult(row.payload)),
        nextPageToken: hasMore ? deps.cursors.encode(scope, String(reached)) : "",
      };
    },
    listModelCalls: async (request, context) => {
      const run = await requireRun(deps.db, requireClient(context.values), request.runId);
      return await listModelCalls(deps, run, request);
    },
    cancelRun: async ({ runId }, context) => {
      const client = requireClient(context.values);
      await cancelRun(deps, (await requireRun(deps.db, client, runId)).id);
      const [run] = await runsToProto(deps, [await requireRunWithOutput(deps.db, client, runId)]);
      return { run };
    },
    cancelRuns: async (request, context) => {
      const { client } = requireClient(context.values);
      return { cancelled: await cancelRuns(deps, readRunFilter(client, request)) };
    },
  };
}

/** The maximum number of runs that a list reads to count those that match. */
const countMax = 1_000;

/** Returns the filters as one text. A list without filters has no such text: older versions made page tokens without one. */
function filtersOf(request: ListRunsRequest): readonly string[] {
  const filters = toBinary(ListRunsRequestSchema, {
    ...request,
    sessionId: "",
    pageSize: 0,
    pageToken: "",
    count: false,
    outputCharsMax: 0,
  });
  return filters.length === 0 ? [] : [Buffer.from(filters).toString("base64")];
}

/** Deletes a run for its client, and cancels it. */
async function deleteRun(deps: ServiceDeps, runId: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    await cancelRunWithin(trx, deps, runId);
    await markRunDeleted(trx, runId);
  });
}

/**
 * Returns a run of the client without its terminal result, which may have megabytes. Throws RUN_NOT_FOUND for an unknown run and for a run of
 * another client.
 */
export async function requireRun(db: Db, client: Client, runId: string): Promise<Omit<ClientRun, "terminal">> {
  return await requireRunWithOutput(db, client, runId, 1);
}

/** Returns a run of the client with the beginning of its output; 0 characters mean all. Throws as `requireRun`. */
export async function requireRunWithOutput(
  db: Db,
  { client }: Client,
  runId: string,
  outputCharsMax = 0,
): Promise<ClientRun> {
  const run = await findClientRun(db, { client, id: runId, outputCharsMax });
  if (run === undefined) {
    throw new Fault("RUN_NOT_FOUND", "run not found");
  }
  return run;
}

/**
 * Yields the log of a run after `request.after`, in batches as they are committed, with as much of its texts as the request asks
 * for. An empty batch opens the stream and keeps it alive.
 * @throws Fault RUN_NOT_FOUND, RESULTS_EXPIRED for a run past its retention, a fault for an `after` beyond the end, and RESUME.
 */
export async function* followRun(
  deps: ServiceDeps,
  request: TailRunRequest,
  { values, signal }: Pick<HandlerContext, "values" | "signal">,
  sink?: Sink<readonly LogEntry[]>,
): AsyncGenerator<readonly LogEntry[], void> {
  const reader = requireReader(values, { runId: request.runId });
  const run = await requireRun(deps.db, reader, request.runId);
  const after = Number(request.after);
  if (!isActive(run.status)) {
    if (after > run.last_sequence) {
      throw beyondEnd(after, run.last_sequence);
    }
    if (after === run.last_sequence) {
      return;
    }
    await assertResultsKept(deps.db, run.id);
  }
  const { textCharsMax } = request;
  yield* live<readonly LogEntry[]>({
    open: (followed) => tail(deps, { runId: run.id, after, signal: followed, sink, textCharsMax }),
    empty: () => [],
    clock: deps.clock,
    reader: signal,
    drain: deps.drain,
  });
}

/**
 * The maximum bytes of results in one message. A slow reader catches up in few messages, and each is far below the message
 * limit of clients. One message, with its copies on the way to the socket, is cheap to hold for every reader that stalls.
 */
const responseBytesMax = 262_144;

async function* responses(batches: AsyncGenerator<readonly LogEntry[]>): AsyncGenerator<TailRunResponse> {
  for await (const batch of batches) {
    if (batch.length === 0) {
      yield create(TailRunResponseSchema);
    }
    for (const part of splitBySize(batch)) {
      yield create(TailRunResponseSchema, { results: part.map((entry) => entry.result) });
    }
  }
}

function splitBySize(entries: readonly LogEntry[]): LogEntry[][] {
  const parts: LogEntry[][] = [];
  let bytes = responseBytesMax;
  for (const entry of entries) {
    bytes += entry.bytes.length;
    if (bytes > responseBytesMax) {
      parts.push([]);
      bytes = entry.bytes.length;
    }
    parts.at(-1)?.push(entry);
  }
  return parts;
}
