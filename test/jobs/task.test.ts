// A run of a job verifies its spec again, as of the time of its acceptance.

import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { acceptJob, verifySpec } from "../../src/protocols/jobspec/jobs/submit.ts";
import { createOpenTask, jobRunInput } from "../../src/protocols/jobspec/jobs/task.ts";
import { readRequest } from "../../src/protocols/jobspec/verification/request.ts";
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
    wakeup: {
      publish: () => {},
      wake: () => {},
      subscribe: () => () => {},
      onGap: () => () => {},
      close: async () => {},
    },
    events: { jobspecRefused: () => {}, emptyTextsDropped: () => {} },
    jobs: { policy, regions, driver: "benchmark" },
    concurrentRunsMax: 0,
    clientRunsMax: 0,
    freeWhileWaiting: [],
  };
  const tenMinutesAgo = new Date(atNoon - 600_000).toISOString();
  const spec = specOf({ metadata: { timestamp: tenMinutesAgo, nonce: "once" } });
  const request = readRequest(Buffer.from(signer.signV1(spec)));
  const verified = await verifySpec(deps, request.document, client);
  // Simulates other jobs that are admitted first.
  clock.advance(3_000);
  const submission = { ...request, client, verified, traceParent: undefined };
  const { id } = await db.transaction().execute((trx) => acceptJob(trx, deps, submission));
  clock.advance(3_600_000);
  const openTask = createOpenTask({ db, trust, policy, regions, servedRegions: regions, runner: "benchmark" });
  const input = fromBinary(MessageSchema, jobRunInput({ jobId: id, region: "EU" }));
  expect(await openTask({ client, input })).toMatchObject({ region: "EU", spec: { jobspecId: "bias-42" } });
  const elsewhere = fromBinary(MessageSchema, jobRunInput({ jobId: id, region: "APAC" }));
  expect(await openTask({ client, input: elsewhere })).toMatchObject({ code: "RUNNER_EARLY_FAILURE" });
});
