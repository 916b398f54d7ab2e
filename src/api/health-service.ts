// grpc.health.v1: whether this replica takes calls. Every service is as well as its replica is. Watchers look for
// themselves, so nothing here knows them or has to forget them.

import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "#gen/grpc/health/v1/health_pb.js";
import type { Clock } from "../platform/base/clock.ts";
import { Fault } from "../platform/base/fault.ts";

export interface HealthDeps {
  /** Why this replica takes no calls; null while it does. */
  readonly whyNotReady: () => string | null;
  readonly clock: Clock;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
  /** What may be asked for by name. The empty name is the whole replica. */
  readonly services: readonly DescService[];
}

export function createHealthService(deps: HealthDeps): ServiceImpl<typeof Health> {
  const names = ["", ...deps.services.map(({ typeName }) => typeName)];
  const known = new Set(names);
  return {
    check: ({ service }) => {
      if (!known.has(service)) {
        throw unknownService(names);
      }
      return { status: lookAt(deps) };
    },
    list: () => {
      const status = lookAt(deps);
      return { statuses: Object.fromEntries(names.map((name) => [name, { status }])) };
    },
    watch: ({ service }, { signal }) =>
      watch(known.has(service) ? () => lookAt(deps) : () => Status.SERVICE_UNKNOWN, signal, deps),
  };
}

/** How late a watcher learns of a change: soon enough for a load balancer, and a look costs a comparison. */
const lookMs = 200;

function lookAt({ whyNotReady, drain }: HealthDeps): Status {
  return drain.aborted || whyNotReady() !== null ? Status.NOT_SERVING : Status.SERVING;
}

/** Yields the status at once and each change of it; a drain ends it with RESUME, after the change that it brings. */
async function* watch(
  look: () => Status,
  reader: AbortSignal,
  { clock, drain }: HealthDeps,
): AsyncGenerator<{ status: Status }> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  reader.addEventListener("abort", end);
  drain.addEventListener("abort", end);
  let told: Status | undefined;
  try {
    for (;;) {
      const status = look();
      if (status !== told) {
        told = status;
        yield { status };
      }
      if (reader.aborted) {
        throw reader.reason;
      }
      if (drain.aborted) {
        throw new Fault("RESUME", "this replica stops: watch again", { retryAfterMs: 0 });
      }
      await clock.sleep(lookMs, ending.signal);
    }
  } finally {
    reader.removeEventListener("abort", end);
    drain.removeEventListener("abort", end);
  }
}

/** The protocol fixes the code, and its clients know none of our reasons. The name is not repeated: it has no limit. */
function unknownService(names: readonly string[]): ConnectError {
  return new ConnectError(
    `unknown service: leave the name empty or use one of ${names.slice(1).join(", ")}`,
    Code.NotFound,
  );
}
