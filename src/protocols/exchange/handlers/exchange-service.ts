// The handlers of ExchangeService: runs that a person drives by copy and paste.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  ExchangeService,
  type ImportExchangeRequest,
  type StartExchangeRequest,
  type StartExchangeResponse,
  StartExchangeResponseSchema,
} from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import type { ServiceDeps } from "../../../api/deps.ts";
import { claimCall, keepAnswer, repeatable } from "../../../api/idempotency.ts";
import { nextPageToken, pageSize } from "../../../api/page.ts";
import { requireClient } from "../../../platform/auth/caller.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { traceParentOf } from "../../../platform/base/trace-parent.ts";
import { inTransaction } from "../../../platform/database/in-transaction.ts";
import { fitResults } from "../fit-results.ts";
import { assertCommandsFit, assertInboxFits } from "../inbox/limits.ts";
import { parseInbox } from "../inbox/parse.ts";
import { commandToProto } from "../inbox/to-proto.ts";
import { outboxFileName } from "../outbox/file-name.ts";
import { showOutbox } from "../outbox-reader.ts";
import { reasons } from "../reasons.ts";
import { readSession, sessionToProto } from "../session-json.ts";
import { type NewExchangeRequest, type StartExchangeDeps, type StartedExchange, startExchange } from "../start.ts";
import { readLastResults } from "../state.ts";
import { findExchange, listExchanges } from "../storage/exchange.ts";
import { requireExchange, submitInbox } from "../submit.ts";
import { exchangeDataOf, exchangeToProto } from "../to-proto.ts";

/** Dependencies of the handlers. */
export interface ExchangeDeps extends ServiceDeps, StartExchangeDeps {}

/** Creates the handlers of ExchangeService. */
export function createExchangeService(deps: ExchangeDeps): ServiceImpl<typeof ExchangeService> {
  const { db, cursors } = deps;
  const find = async (id: string, context: HandlerContext) =>
    requireExchange(await findExchange(db, { client: clientOf(context), id }));
  return {
    startExchange: (request, context) => start(deps, request, context),
    getExchange: async ({ exchangeId }, context) => {
      const row = await find(exchangeId, context);
      const results = await readLastResults(db, row);
      return { exchange: exchangeToProto(row, { results: fitResults(results), readRequests: row.read_requests }) };
    },
    listExchanges: async (request, context) => {
      const client = clientOf(context);
      const limit = pageSize(request.pageSize);
      const scope = ["exchanges", client];
      const rows = await listExchanges(db, { client, before: cursors.decode(scope, request.pageToken), limit });
      return {
        exchanges: rows.map((row) => exchangeToProto(row)),
        nextPageToken: nextPageToken(rows, limit, ({ session }) => cursors.encode(scope, session)),
      };
    },
    getOutbox: async ({ exchangeId: id }, context) => {
      const { row, text } = await showOutbox(deps, { client: clientOf(context), id }, context.signal);
      const { sequence, is_complete: isComplete } = row;
      return { text: Buffer.from(text).toString(), sequence, fileName: outboxFileName(id, sequence), isComplete };
    },
    submitInbox: async ({ exchangeId: id, text, sequence }, context) => {
      assertReadable(text);
      const { results, ...answer } = await submitInbox(
        deps,
        { client: clientOf(context), id, text, sequence },
        context.signal,
      );
      return { ...answer, results: fitResults(results) };
    },
    parseInbox: ({ text }) => ({ commands: assertReadable(text).map(commandToProto) }),
    exportExchange: async ({ exchangeId }, context) => {
      const row = await find(exchangeId, context);
      return { session: sessionToProto(exchangeDataOf(row, await readLastResults(db, row))) };
    },
    importExchange: (request, context) => importExchange(deps, request, context),
  };
}

function clientOf({ values }: HandlerContext): string {
  return requireClient(values).client;
}

/** Parses an inbox. Refuses a text that is too large before anything else is read. */
function assertReadable(text: string) {
  assertInboxFits(text);
  const commands = parseInbox(text);
  assertCommandsFit(commands);
  return commands;
}

async function start(
  deps: ExchangeDeps,
  request: StartExchangeRequest,
  context: HandlerContext,
): Promise<StartExchangeResponse> {
  const call = repeatable(clientOf(context), ExchangeService.method.startExchange, request);
  const wanted = newExchange(request, context);
  for (let tries = 1; ; tries++) {
    try {
      return await inTransaction(deps.db, async (trx) => {
        const known = await claimCall(trx, call);
        if (known !== undefined) {
          return known;
        }
        const started = await startExchange(trx, deps, wanted);
        if (started === undefined) {
          throw new IdTaken();
        }
        return await keepAnswer(trx, call, create(StartExchangeResponseSchema, startToProto(started)));
      });
    } catch (error) {
      // Ids are short, so a new one may be taken; five taken ids in a row do not occur.
      if (!(error instanceof IdTaken) || tries === startTriesMax) {
        throw error;
      }
    }
  }
}

const startTriesMax = 5;

/** Aborts the transaction before another id is tried. */
class IdTaken extends Error {}

async function importExchange(deps: ExchangeDeps, request: ImportExchangeRequest, context: HandlerContext) {
  if (request.session === undefined) {
    throw new Fault("INTERNAL", "the request has no session after its validation");
  }
  const imported = readSession(request.session);
  const wanted = newExchange({ task: imported.task, workDir: request.workDir }, context);
  const started = await inTransaction(deps.db, async (trx) => {
    const exchange = await startExchange(trx, deps, { ...wanted, imported });
    if (exchange === undefined) {
      throw new Fault(reasons.EXCHANGE_EXISTS, `exchange ${imported.id} already exists, or a session with that id`);
    }
    return exchange;
  });
  return startToProto(started);
}

function newExchange(
  { task, workDir }: { readonly task: string; readonly workDir: string },
  context: HandlerContext,
): NewExchangeRequest {
  return {
    client: clientOf(context),
    task,
    workDir: workDir === "" ? undefined : workDir,
    traceParent: traceParentOf(context.values),
    imported: undefined,
  };
}

function startToProto({ id, runId, sequence }: StartedExchange) {
  return { exchangeId: id, sessionId: id, sequence, runId };
}
