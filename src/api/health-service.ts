// grpc.health.v1: whether this replica takes calls. Every service has the status of its replica. Each watcher polls the status
// in its own call, so the service keeps no list of watchers.

import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type Health, HealthCheckResponse_ServingStatus as Status } from "#gen/grpc/health/v1/health_pb.js";
import type { Clock } from "../platform/base/clock.ts";
import { Fault } from "../platform/base/fault.ts";

/** The dependencies of the health service. */
export interface HealthDeps {
  /** Returns null while this replica takes calls, otherwise the reason why it does not. */
  readonly whyNotReady: () => string | null;
  readonly clock: Clock;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
  /** The services that a client may name. The empty name means the whole replica. */
  readonly services: readonly DescService[];
}

/** Returns the handlers of `grpc.health.v1.Health`. */
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

/** The interval between two looks of a watcher: soon enough for a load balancer, and a look costs one comparison. */
const lookMs = 200;

function lookAt({ whyNotReady, drain }: HealthDeps): Status {
  return drain.aborted || whyNotReady() !== null ? Status.NOT_SERVING : Status.SERVING;
}

/** Yields the status at once and after each change. A drain ends the stream with RESUME, after the change to NOT_SERVING. */
async function* watch(
  look: () => Status,
  reader: AbortSignal,
  { clock, drain }: HealthDeps,
): AsyncGenerator<{ status: Status }> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  reader.addEventListener("abort", end);
  drain.addEventListener("abort", end);
  let sent: Status | undefined;
  try {
    for (;;) {
      const status = look();
      if (status !== sent) {
        sent = status;
        yield { status };
      }
      if (reader.aborted) {
        throw reader.reason;
      }
      if (drain.aborted) {
        throw new Fault("RESUME", "this replica is stopping: watch again", { retryAfterMs: 0 });
      }
      await clock.sleep(lookMs, ending.signal);
    }
  } finally {
    reader.removeEventListener("abort", end);
    drain.removeEventListener("abort", end);
  }
}

/**
 * Returns NOT_FOUND, the code that the protocol requires; its clients know no reasons of Runnel. The message leaves out the
 * unknown name, whose length has no limit.
 */
function unknownService(names: readonly string[]): ConnectError {
  return new ConnectError(
    `unknown service: leave the name empty or use one of ${names.slice(1).join(", ")}`,
    Code.NotFound,
  );
}
