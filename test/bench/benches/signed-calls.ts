// What a signature costs: the same call with a bearer token and signed, beside the bare MAC. A signed call also commits its
// nonce before anything else happens, which is most of the cost.

import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Bench, Variant } from "../bench.ts";
import { H1Client, type H1Request } from "../clients/h1-client.ts";
import { benchClient, benchKey } from "../harness/credentials.ts";
import type { Load } from "../harness/load.ts";
import { type Meter, measure } from "../harness/meter.ts";
import { measureCalls } from "./calls.ts";

const path = "/runnel.v1.SystemService/GetUsage";
const body = "{}";
/** Enough to make the cost of reading the clock negligible. */
const bareMacs = 20_000;

export const signedCalls: Bench = {
  name: "signed",
  title: "GetUsage over Connect JSON, 64 at a time: with a bearer token, and signed (v2)",
  notMeasured: "v1 signatures, large bodies, signed streams, nonces shared by several replicas.",
  roundsMax: 3,
  async *measure(stage) {
    await using service = await stage.startService("signed");
    using client = new H1Client(service.url);
    const meter = { servicePid: service.pid, postmasterPid: stage.home.postmasterPid() };
    const warmup: Load = { concurrency: 64, count: stage.quick ? 500 : 3_000, limitMs: 3_000 };
    await measureBoth(client, meter, warmup);
    for (;;) {
      const load = { ...warmup, count: Number.POSITIVE_INFINITY, limitMs: stage.quick ? 500 : 1_500 };
      const [bearer, signed] = await measureBoth(client, meter, load);
      const bare = await measureBareMac();
      yield [bearer, compare(signed, bearer, bare), bare];
    }
  },
};

async function measureBoth(client: H1Client, meter: Meter, load: Load): Promise<[Variant, Variant]> {
  const caller = (request: () => H1Request) => async (): Promise<boolean> =>
    (await client.post(request())).status === 200;
  return [
    await measureCalls({ ...load, name: "bearer", call: caller(() => ({ path, body })), meter }),
    await measureCalls({
      ...load,
      name: "signed",
      call: caller(() => ({ path, body, headers: signHeaders() })),
      meter,
    }),
  ];
}

/** The digest of the body and the MAC, as both sides have to compute them. */
async function measureBareMac(): Promise<Variant> {
  const { cost } = await measure({}, async () => {
    for (let index = 0; index < bareMacs; index++) {
      makeMac("1767225600", "4f9a4f1f6d4d7a8f87b5a5c8c2f12a10");
    }
  });
  const metrics = { "calls/s": bareMacs / cost.wall, "service CPU per call, µs": (1_000_000 * cost.client) / bareMacs };
  return { name: "bare node:crypto", metrics, faults: [] };
}

function compare(signed: Variant, bearer: Variant, bare: Variant): Variant {
  const cpu = ({ metrics }: Variant): number => metrics["service CPU per call, µs"] ?? Number.NaN;
  const addedUs = cpu(signed) - cpu(bearer);
  const metrics = {
    ...signed.metrics,
    "calls/s, ratio to bearer": (signed.metrics["calls/s"] ?? Number.NaN) / (bearer.metrics["calls/s"] ?? Number.NaN),
    "added service CPU, µs": addedUs,
    "added service CPU, ratio to bare": addedUs / cpu(bare),
  };
  return { ...signed, metrics };
}

function signHeaders(): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const nonce = randomBytes(16).toString("hex");
  return {
    "x-client-id": benchClient,
    "x-timestamp": timestamp,
    "x-nonce": nonce,
    "x-signature": `sha256=${makeMac(timestamp, nonce)}`,
  };
}

function makeMac(timestamp: string, nonce: string): string {
  const digest = createHash("sha256").update(body).digest("hex");
  const text = ["v2", "POST", path, benchClient, timestamp, nonce, digest].join("\n");
  return createHmac("sha256", benchKey).update(text).digest("hex");
}
