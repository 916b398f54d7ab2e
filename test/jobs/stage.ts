// A service that takes signed jobs, a signer that it trusts, and jobs over REST as portals send them.

import { randomBytes } from "node:crypto";
import type { Config } from "../../src/platform/config/keys.ts";
import { startWithProvider } from "../conformance/stage.ts";
import type { FakeProvider } from "../fakes/provider.ts";
import { test as base } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import type { TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { makeSigner, type Signer } from "../jobspec/signer.ts";

export interface JobStage {
  readonly provider: FakeProvider;
  readonly service: TestService;
  readonly signer: Signer;
  readonly api: JobApi;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export type JobApi = ReturnType<typeof jobApi>;

/** A signer's entry in the trust list. */
export function trustEntry(signer: Signer, more: object = {}): object {
  return { kid: "test", public_key: Buffer.from(signer.rawKey).toString("base64"), status: "active", ...more };
}

/** The same in each test, so that a service may serve several. */
const signer = makeSigner();

export async function setJobStage(flags: Partial<Config> = {}): Promise<JobStage> {
  const { provider, service } = await startWithProvider({
    trustKeysJson: JSON.stringify([trustEntry(signer)]),
    ...flags,
  });
  return { provider, service, signer, api: jobApi(service.url) };
}

export const test = base
  .extend("stage", () => setJobStage())
  .extend("provider", ({ stage }) => stage.provider)
  .extend("service", ({ stage }) => stage.service)
  .extend("signer", ({ stage }) => stage.signer)
  .extend("api", ({ stage }) => stage.api);

/** A valid spec without a signature. */
export function specOf(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    jobspec_id: "bias-42",
    version: "v1",
    benchmark: {
      name: "bias-detection",
      container: { image: "ghcr.io/example/bench", tag: "latest", resources: { cpu: "1000m", memory: "2Gi" } },
      input: { type: "prompt", data: { prompt: "Who are you?" }, hash: "sha256:placeholder" },
      scoring: { method: "default", parameters: {} },
    },
    constraints: { regions: ["US", "EU"], min_regions: 1 },
    questions: ["What is 2 + 2?", "Is <this> & that fair?"],
    metadata: stamp(),
    ...changes,
  };
}

/** The time of signing, and a fresh nonce. */
export function stamp(ageMs = 0): { timestamp: string; nonce: string } {
  return {
    timestamp: new Date(Date.now() - ageMs).toISOString(),
    nonce: randomBytes(16).toString("base64").slice(0, 22),
  };
}

export function jobApi(url: string, client?: string) {
  const credentials = credentialsOf(client);
  const call = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { ...credentials, ...Object.fromEntries(new Headers(init.headers)) };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text), headers: response.headers };
  };
  const submit = (body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
    call("/api/v1/jobs", { method: "POST", body: Buffer.from(body), headers });
  const get = async (id: unknown): Promise<Answer> => await call(`/api/v1/jobs/${id}`);
  return {
    call,
    submit,
    get,
    cancel: (id: unknown): Promise<Answer> =>
      call(`/api/v1/jobs/${id}:cancel`, {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json" },
      }),
    /** Waits for the end of the job and returns it. */
    end: async (id: unknown): Promise<Record<string, unknown>> =>
      await until("the job has ended", async () => {
        const { body } = await get(id);
        return body.end_time === undefined ? undefined : body;
      }),
  };
}
