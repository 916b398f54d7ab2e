// Lists whose rows have large results: each page fits into the message that gRPC clients take, and the pages have every row once.

import { expect } from "vitest";
import { ListRunsRequest_Order, RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { test as base } from "../conformance/stage.ts";
import { answer } from "../fakes/provider.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";

const { createSession, listSessions, sendMessage } = SessionService.method;
const { listRuns, searchRuns } = RunService.method;
const runs = 7;

const test = base.extend("client", ({ service }) => new GrpcClient(service.target));

/** Reads all pages of a list. */
async function readPages<Row>(
  read: (pageToken: string) => Promise<{ readonly rows: readonly Row[]; readonly nextPageToken: string }>,
): Promise<Row[][]> {
  const pages: Row[][] = [];
  let pageToken = "";
  do {
    const page = await read(pageToken);
    pages.push([...page.rows]);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return pages;
}

test("a page of a list is as large as an answer may be", async ({ provider, client }) => {
  // Two fit into a page, and all of them are more than a gRPC client takes by default.
  const output = "word ".repeat(100_000);
  const sessions: string[] = [];
  for (let run = 0; run < runs; run++) {
    provider.respond(answer(run === 3 ? "short" : output));
    const { sessionId } = await client.call(createSession, { agent: { name: "writer" } });
    await client.call(sendMessage, { sessionId, message: `letter ${run}` });
    sessions.unshift(sessionId);
    await until("the run to end", async () => {
      const [newest] = (await client.call(listRuns, { pageSize: 1 })).runs;
      return newest?.endTime !== undefined;
    });
  }
  const active = await client.call(createSession, { agent: { name: "writer" } });
  provider.respond(async (wire) => await wire.hang());
  await client.call(sendMessage, { sessionId: active.sessionId, message: "letter that waits" });
  sessions.unshift(active.sessionId);

  for (const order of [ListRunsRequest_Order.UNSPECIFIED, ListRunsRequest_Order.CHANGE_TIME]) {
    const pages = await readPages(async (pageToken) => {
      const page = await client.call(listRuns, { order, pageToken });
      return { ...page, rows: page.runs };
    });
    expect(pages.flat().map(({ sessionId }) => sessionId)).toEqual(sessions);
    expect(pages.flat().map((run) => run.output.length)).toEqual([
      0,
      ...[6, 5, 4, 3, 2, 1, 0].map((run) => (run === 3 ? 5 : output.length)),
    ]);
    expect(pages.map((page) => page.length)).toEqual([3, 3, 2]);
  }
  const listed = await readPages(async (pageToken) => {
    const page = await client.call(listSessions, { pageToken });
    return { ...page, rows: page.sessions };
  });
  expect(listed.flat().map(({ sessionId }) => sessionId)).toEqual(sessions);
  expect(listed.map((page) => page.length)).toEqual([3, 3, 2]);
  // The service reads the texts of runs a moment after they were written.
  await until("all texts to be found", async () => {
    const queries = Array.from({ length: runs }, (_, run) => `letter ${run} word`).toSpliced(
      3,
      1,
      "letter short",
      "waits",
    );
    const pages = await Promise.all(queries.map((query) => client.call(searchRuns, { query, pageSize: 1 })));
    return pages.every(({ matches }) => matches.length === 1);
  });
  const found = await readPages(async (pageToken) => {
    const page = await client.call(searchRuns, { query: "letter", pageToken });
    return { ...page, rows: page.matches };
  });
  expect(found.flat().map(({ run }) => run?.sessionId)).toEqual(sessions);
  expect(Math.max(...found.map((page) => page.length))).toBe(3);
});
