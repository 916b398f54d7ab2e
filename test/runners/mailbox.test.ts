// The mailbox of a run: order, limits, and reports that are not taken.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ReportResultsResponseSchema } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { Mailbox } from "../../src/protocols/langbot/runners/mailbox.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const never = new AbortController().signal;
const empty = { results: [], finished: false };

function openMailbox() {
  const clock = createManualClock();
  const mailbox = new Mailbox({ runId: "run", client: "client", attempt: 1 });
  return { clock, mailbox, deliver: () => mailbox.deliver(clock, empty) };
}

test("reports are taken in order, and each gets its own answer", async () => {
  const { clock, mailbox, deliver } = openMailbox();
  const answers = [deliver(), deliver()];
  for (const ackedThrough of [1n, 2n]) {
    const report = await mailbox.next(clock, 1_000, never);
    report?.answer(create(ReportResultsResponseSchema, { ackedThrough }));
  }
  expect((await Promise.all(answers)).map((answer) => answer.ackedThrough)).toEqual([1n, 2n]);
});

test("a report that is not taken in time is refused, and not taken later", async () => {
  const { clock, mailbox, deliver } = openMailbox();
  const refused = expect(deliver()).rejects.toMatchObject({ reason: "RESUME" });
  clock.advance(10_000);
  await refused;
  expect(await mailbox.next(clock, 0, never)).toBeUndefined();
});

test("a full mailbox refuses at once, and a closed one refuses all waiting reports", async () => {
  const { mailbox, deliver } = openMailbox();
  const waiting = Promise.allSettled(Array.from({ length: 64 }, deliver));
  await expect(deliver()).rejects.toMatchObject({ reason: "RESUME" });
  mailbox.close();
  expect((await waiting).map(({ status }) => status)).toEqual(Array.from({ length: 64 }, () => "rejected"));
  await expect(deliver()).rejects.toMatchObject({ reason: "RESUME" });
});
