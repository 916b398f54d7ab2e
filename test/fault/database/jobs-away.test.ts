// The database is away. The service cannot check whether a nonce is new, so it accepts no job, and the spec stays valid.

import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { errorInfoOf } from "../../harness/grpc.ts";
import { until } from "../../harness/wait.ts";
import { jobApi, specOf, trustEntry } from "../../jobs/stage.ts";
import { makeSigner } from "../../jobspec/signer.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { startOn } from "./service-on.ts";

test("a job that is submitted while the database is away is refused, and accepted when it is back", async () => {
  const postgres = await openOwnPostgres();
  const signer = makeSigner();
  const { member } = await startOn(postgres.url, { TRUSTED_KEYS_JSON: JSON.stringify([trustEntry(signer)]) });
  const api = jobApi(member.url);
  const signed = signer.signV1(specOf());
  await postgres.stop("fast");

  const unprotected = {
    error: "the nonce cannot be checked while the database is unavailable: try again",
    error_code: "protection_unavailable:replay",
  };
  for (const headers of [{}, { "idempotency-key": "later" }]) {
    const answer = await api.submit(signed, headers);
    expect([answer.status, answer.body]).toEqual([503, unprotected]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  }
  const document = { data: Buffer.from(signed) };
  const error = await member.client.call(JobService.method.submitJob, { document }).then(
    () => expect.unreachable("the job was taken"),
    (failure: ServiceError) => failure,
  );
  expect([error.code, errorInfoOf(error)?.reason]).toEqual([status.UNAVAILABLE, "REPLAY_UNPROTECTED"]);

  await postgres.start();
  const taken = await until("the job to be taken", async () => {
    const answer = await api.submit(signed, { "idempotency-key": "later" });
    return answer.status < 500 && answer;
  });
  expect(taken.status).toBe(202);
  expect(await api.end(taken.body.id)).toMatchObject({ status: "completed" });
  expect(await member.stop()).toBe(0);
});
