// A run of a job verifies its spec again, as of the time of its acceptance.

import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { type AcceptedJob, submitJob } from "../../src/protocols/jobspec/jobs/submit.ts";
import { createOpenTask, jobRunInput } from "../../src/protocols/jobspec/jobs/task.ts";
import { makeSigner } from "../jobspec/signer.ts";
import { specOf, trustEntry } from "./stage.ts";
import { atNoon, openTrustStage } from "./trust-stage.ts";

const client = "key/local";
const policy = { audience: "runnel", enforcesTrust: true };
const regions = ["US", "EU"];

test("a spec that was barely young enough runs, however long its acceptance and its run waited", async () => {
  const signer = makeSigner();
  const { db, clock, trust } = await openTrustStage({ json: [trustEntry(signer)] });
  const deps = {
    db,
    clock,
    trust,
    wakeup: { publish: () => {}, subscribe: () => () => {}, onGap: () => () => {}, close: async () => {} },
    events: { jobspecRefused: () => {}, emptyTextsDropped: () => {} },
    jobs: { policy, regions, driver: "benchmark" },
    concurrentRunsMax: 0,
    clientRunsMax: 0,
    freeWhileWaiting: [],
  };
  const tenMinutesAgo = new Date(atNoon - 600_000).toISOString();
  const spec = specOf({ metadata: { timestamp: tenMinutesAgo, nonce: "once" } });
  const { id } = await submitJob<AcceptedJob>(
    deps,
    { client, body: Buffer.from(signer.signV1(spec)), traceParent: undefined },
    {
      answer: (job) => job,
      once: (_trx, work) => {
        // Simulates other jobs that are admitted first.
        clock.advance(3_000);
        return work();
      },
    },
  );
  clock.advance(3_600_000);
  const openTask = createOpenTask({ db, trust, policy, regions, servedRegions: regions, runner: "benchmark" });
  const input = fromBinary(MessageSchema, jobRunInput({ jobId: id, region: "EU" }));
  expect(await openTask({ client, input })).toMatchObject({ region: "EU", spec: { jobspecId: "bias-42" } });
  const elsewhere = fromBinary(MessageSchema, jobRunInput({ jobId: id, region: "APAC" }));
  expect(await openTask({ client, input: elsewhere })).toMatchObject({ code: "RUNNER_EARLY_FAILURE" });
});
