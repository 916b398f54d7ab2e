// Every refused spec gets its reason, in the contract's form over REST and with the contract's code over gRPC, and leaves
// nothing behind but an audit entry.

import { type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect } from "vitest";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { query } from "../harness/database.ts";
import { errorInfoOf, GrpcClient } from "../harness/grpc.ts";
import { type BadSpec, badSpecs, bodyBytesMax, makeKeys } from "./bad-specs.ts";
import { jobApi, setJobStage, specOf, test } from "./stage.ts";

const { submitJob } = JobService.method;

/** The body of the answer in the contract's form. */
function bodyOf({ code, text, isOfBody = false, details }: BadSpec): object {
  return {
    ...(isOfBody ? { error: code, error_code: code, message: text } : { error: text, error_code: code }),
    ...(details && { details }),
  };
}

function reasonAndStatus({ code }: BadSpec): [status, string] {
  return code.startsWith("trust_violation:")
    ? [status.PERMISSION_DENIED, "JOBSPEC_UNTRUSTED"]
    : [status.INVALID_ARGUMENT, "JOBSPEC_INVALID"];
}

async function refusalOver(grpc: GrpcClient, body: string | Uint8Array, requestId = ""): Promise<ServiceError> {
  return await grpc.call(submitJob, { document: { data: Buffer.from(body) }, requestId }).then(
    ({ id }) => expect.unreachable(`it became job ${id}`),
    (error: ServiceError) => error,
  );
}

async function countRows(databaseUrl: string): Promise<Readonly<Record<string, number>>> {
  const tables = ["job", "job_nonce", "session", "run", "run_result", "idempotency", "trust_event"];
  const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`);
  const [row = {}] = await query<Record<string, number>>(databaseUrl, `select ${counts.join(", ")}`);
  return row;
}

describe("a refused spec", () => {
  test("gets the contract's error over REST and gRPC, and leaves only an audit entry", async () => {
    const keys = makeKeys();
    const { api, service } = await setJobStage({ trustKeysJson: keys.json });
    const grpc = new GrpcClient(service.target);

    const specs = badSpecs(keys);
    const answers: unknown[] = [];
    for (const { name, body } of specs) {
      const answer = await api.submit(body, { "idempotency-key": `rest ${name}` });
      answers.push([name, answer.status, answer.body]);
    }
    expect(answers).toEqual(specs.map((spec) => [spec.name, 400, bodyOf(spec)]));

    const refusals: unknown[] = [];
    for (const { name, body } of specs) {
      const error = await refusalOver(grpc, body, `grpc ${name}`);
      const { code, details } = error;
      const info = errorInfoOf(error);
      refusals.push([name, code, details, info?.reason, info?.metadata]);
    }
    expect(refusals).toEqual(
      specs.map((spec) => {
        const { name, code, text, isOfBody, details } = spec;
        const [grpcCode, reason] = reasonAndStatus(spec);
        return [name, grpcCode, text, reason, { error_code: code, ...(isOfBody && { stage: "body" }), ...details }];
      }),
    );

    expect(await countRows(service.databaseUrl)).toEqual({
      job: 0,
      job_nonce: 0,
      session: 0,
      run: 0,
      run_result: 0,
      idempotency: 0,
      trust_event: 2 * specs.length,
    });
    const told = await query<{ error_code: string; type: string; actor: string }>(
      service.databaseUrl,
      "select error_code, type, actor from trust_event order by id",
    );
    const codes = specs.map(({ code }) => code);
    expect(told.map(({ error_code }) => error_code).toSorted()).toEqual([...codes, ...codes].toSorted());
    expect(new Set(told.map(({ type, actor }) => `${type} ${actor}`))).toEqual(new Set(["jobspec.refused local"]));
  });

  test("that was submitted before changes nothing, for any client", async ({ api, service, signer }) => {
    const signed = signer.signV1(specOf());
    const { body } = await api.submit(signed);
    await api.end(body.id);
    const before = await countRows(service.databaseUrl);
    const refused = {
      status: 400,
      body: {
        error:
          "this spec was submitted before: sign the spec again with a new nonce, or retry with the same Idempotency-Key",
        error_code: "replay_detected",
      },
    };
    // A nonce belongs to its key, so a carrier cannot make a second job under another name.
    expect(await jobApi(service.url, "stranger").submit(signed, { "idempotency-key": "mine" })).toMatchObject(refused);
    expect(await api.submit(signed)).toMatchObject(refused);
    const error = await refusalOver(new GrpcClient(service.target), signed);
    expect([error.code, errorInfoOf(error)?.reason, errorInfoOf(error)?.metadata]).toEqual([
      status.ALREADY_EXISTS,
      "JOBSPEC_REPLAYED",
      { error_code: "replay_detected" },
    ]);
    expect(await countRows(service.databaseUrl)).toEqual({ ...before, trust_event: 3 });
  });

  test("gets the same form when it is refused before it is parsed", async () => {
    const { api, service } = await setJobStage({ trustEnforce: false });
    const large = await api.submit(Buffer.alloc(20 * bodyBytesMax, " "));
    expect([large.status, large.body]).toEqual([
      400,
      { error: "invalid_body", error_code: "invalid_body", message: expect.any(String) },
    ]);
    const named = await api.submit("{}", { "idempotency-key": "k".repeat(129) });
    expect([named.status, named.body]).toMatchObject([400, { error_code: "validation_error" }]);
    const nameless = await api.get("7");
    expect([nameless.status, nameless.body]).toMatchObject([400, { error_code: "validation_error" }]);
    const stranger = await fetch(`${service.url}/api/v1/jobs`, { method: "POST", body: "{}" });
    expect([stranger.status, await stranger.json()]).toEqual([
      401,
      { error: expect.any(String), error_code: "credentials_missing" },
    ]);
    expect((await countRows(service.databaseUrl)).trust_event).toBe(0);
  });

  test("over the rate limit gets the time to wait", async () => {
    const { api, service } = await setJobStage({ rateLimitRps: 1, rateLimitBurst: 1 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.submit("{}")));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    for (const { body, headers } of limited) {
      expect(body).toEqual({ error: "rate limit exceeded", error_code: "rate_limit_exceeded" });
      expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
    // The limit is for the caller, not for the key in the spec: another client is served.
    expect(await jobApi(service.url, "stranger").submit("{}")).toMatchObject({
      status: 400,
      body: { error_code: "missing_field:signature" },
    });
  });
});
