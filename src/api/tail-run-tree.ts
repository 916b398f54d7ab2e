// TailRunTree: the logs of a run and of all runs below it, as one stream with one position.

import { create } from "@bufbuild/protobuf";
import { type TailRunTreeResponse, TailRunTreeResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { type TreeEntry, type TreePosition, tailTree } from "../engine/log/tail-tree.ts";
import type { ClientRun } from "../engine/storage/client-run.ts";
import type { ServiceDeps } from "./deps.ts";
import { live } from "./live.ts";

/**
 * Yields the results of a run and of those below it after a cursor.
 * @throws Fault RESULTS_EXPIRED, CURSOR_INVALID, CONCURRENCY_EXHAUSTED and RESUME.
 */
export async function* tailRunTree(
  deps: ServiceDeps,
  run: Pick<ClientRun, "id" | "client">,
  after: string,
  reader: AbortSignal,
): AsyncGenerator<TailRunTreeResponse> {
  const scope = ["tree", run.client, run.id];
  const reached = deps.cursors.decode(scope, after, "after");
  const position = reached === undefined ? new Map([[run.id, 0]]) : readPosition(reached);
  using _open = deps.watches.open(run.client);
  const entries = live<TreeEntry | undefined>({
    open: (followed) => tailTree(deps, { rootId: run.id, position, signal: followed }),
    empty: () => undefined,
    clock: deps.clock,
    reader,
    drain: deps.drain,
  });
  for await (const next of entries) {
    yield next === undefined
      ? create(TailRunTreeResponseSchema)
      : create(TailRunTreeResponseSchema, {
          cursor: deps.cursors.encode(scope, printPosition(next.position)),
          item: { case: "result", value: next.entry.result },
        });
  }
}

function printPosition(position: TreePosition): string {
  return [...position].map(([runId, after]) => `${runId}:${after}`).join(" ");
}

function readPosition(text: string): TreePosition {
  const runs = text === "" ? [] : text.split(" ");
  return new Map(
    runs.map((run) => {
      const [runId = "", after] = run.split(":");
      return [runId, Number(after)];
    }),
  );
}
