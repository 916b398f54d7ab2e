// Reports between replicas, with rare interleavings held until they happen.

import { create, toBinary } from "@bufbuild/protobuf";
import { expect, onTestFinished } from "vitest";
import {
  ReportResultsRequestSchema,
  ReportResultsResponseSchema,
} from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { Forwarding } from "../../src/protocols/langbot/runners/forwarding.ts";
import { Mailboxes } from "../../src/protocols/langbot/runners/mailbox.ts";
import {
  answerForwardedReport,
  insertForwardedReport,
  listForwardedReports,
} from "../../src/protocols/langbot/storage/forwarded-report.ts";
import { test } from "../fixtures.ts";
import { until } from "../harness/wait.ts";
import { LocalWakeup, openStore, silentEvents } from "../runlog/store.ts";

const never = new AbortController().signal;

function openForwarding(db: Db, clock = systemClock) {
  const mailboxes = new Mailboxes();
  const wakeup = new LocalWakeup();
  const forwarding = new Forwarding({ db, clock, wakeup, events: silentEvents, mailboxes });
  forwarding.open();
  onTestFinished(() => forwarding.close());
  return { forwarding, mailboxes, wakeup };
}

const answer = create(ReportResultsResponseSchema, { ackedThrough: 7n, ended: true });

// The terminal result is committed, the forwarding replica sees it, and then the answer is written.
test("a report that ends its run gets its answer even when the end is seen first", async ({ store: { db } }) => {
  // The time to answer never passes, however slow this machine is.
  const { forwarding } = openForwarding(db, { ...systemClock, monotonicMs: () => 0 });
  const runId = newUuid(systemClock.nowMs());
  let looks = 0;
  const answered = forwarding.forward(create(ReportResultsRequestSchema, { runId, attempt: 1 }), async () => {
    looks++;
    return true;
  });
  await until("it to have seen the end", () => looks > 0);
  const [report] = await listForwardedReports(db, [runId]);
  await answerForwardedReport(db, { id: report?.id ?? "", response: toBinary(ReportResultsResponseSchema, answer) });
  expect(await answered).toEqual(answer);
});

test("a report without an answer fails soon after its run has ended, and its row is deleted", async () => {
  const { db } = await openStore();
  const { forwarding } = openForwarding(db);
  const runId = newUuid(systemClock.nowMs());
  const request = create(ReportResultsRequestSchema, { runId, attempt: 1 });
  expect(await forwarding.forward(request, async () => true)).toBeUndefined();
  expect(await listForwardedReports(db, [runId])).toEqual([]);
});

// The list was read while the report was with the driver, and arrives after the answer was written.
test("a report that is answered during a list query is not taken twice", async ({ store: { db } }) => {
  const lists = holdLists(db);
  const { mailboxes, wakeup } = openForwarding(lists.db);
  const runId = newUuid(systemClock.nowMs());
  const id = newUuid(systemClock.nowMs());
  const request = toBinary(ReportResultsRequestSchema, create(ReportResultsRequestSchema, { runId, attempt: 1 }));
  await insertForwardedReport(db, { id, runId, request });
  const mailbox = mailboxes.open({ runId, client: "shared/test", attempt: 1 });
  const report = await mailbox.next(systemClock, 20_000, never);
  lists.hold();
  await until("a list that has the report", () => lists.held > 0);
  const told = new Promise((resolve) => wakeup.subscribe("reported", resolve));
  report?.answer(answer);
  await told;
  const before = lists.count;
  lists.release();
  await until("the next list", () => lists.count > before + 1);
  expect(mailbox.hasReports).toBe(false);
});

/** The same database, with result lists of reports held back after they were read. */
function holdLists(db: Db) {
  let gate: Promise<void> | undefined;
  let open = (): void => {};
  const state = { count: 0, held: 0 };
  return {
    db: db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        const isList = result.rows.length === 0 || "request" in (result.rows[0] ?? {});
        state.count += isList ? 1 : 0;
        if (gate !== undefined && result.rows.length > 0 && isList) {
          state.held++;
          await gate;
        }
        return result;
      },
    }),
    get count() {
      return state.count;
    },
    get held() {
      return state.held;
    },
    hold: () => {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    release: () => {
      gate = undefined;
      open();
    },
  };
}
