// Polls liveness and readiness of a process like a load balancer, watches its gRPC health checks, and records the answers.

import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { Health, type HealthCheckResponse, HealthCheckResponse_ServingStatus } from "#gen/grpc/health/v1/health_pb.js";
import { until } from "../../harness/wait.ts";
import type { Member } from "../cluster.ts";

/** The promise: readiness is off this soon after the database is gone, */
export const offMaxMs = 2_000;
/** and on this soon after it is back. */
export const onMaxMs = 5_000;

const intervalMs = 50;
/** A probe that is answered later than this is late. */
const promptMs = 10;
/** The limit of a wait whose measured time the test judges. */
const waitMaxMs = 30_000;

export interface Outage {
  readonly atMs: number;
  readonly reason: string;
}

/**
 * Figures exclude the delay of late probes in the same time. Probes never wait for the database, so only an overloaded
 * machine makes them late, and then everything else is late too.
 */
export interface ProbeWatch {
  /** Milliseconds since `fromMs` until readiness was off, over HTTP and gRPC. */
  notReadySince(fromMs: number, limitMs?: number): Promise<number>;
  /** Milliseconds since `fromMs` until readiness was on, over HTTP and gRPC. */
  readySince(fromMs: number, limitMs?: number): Promise<number>;
  /** The times that /readyz went off. */
  readonly outages: readonly Outage[];
  /** The longest time of a /livez request so far; Infinity when one failed. */
  readonly livenessMaxMs: number;
}

export function watchProbes({ url, client }: Pick<Member, "url" | "client">): ProbeWatch {
  const over = new AbortController();
  const readyz = new Readiness();
  const health = new Readiness();
  const outages: Outage[] = [];
  let livenessMaxMs = 0;
  const asked: { readonly atMs: number; readonly tookMs: number }[] = [];

  /** Returns undefined for a successful answer, else the reason. */
  async function ask(path: string): Promise<string | undefined> {
    const atMs = performance.now();
    try {
      const response = await fetch(`${url}${path}`, { signal: over.signal });
      const answer = await response.text();
      return response.ok ? undefined : answer;
    } catch (error) {
      return String(error);
    } finally {
      asked.push({ atMs, tookMs: performance.now() - atMs });
    }
  }

  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      const startedMs = performance.now();
      const lives = (await ask("/livez")) === undefined;
      if (over.signal.aborted) {
        return;
      }
      livenessMaxMs = Math.max(livenessMaxMs, lives ? performance.now() - startedMs : Number.POSITIVE_INFINITY);
      const reason = await ask("/readyz");
      if (over.signal.aborted) {
        return;
      }
      if (reason !== undefined && readyz.isOn) {
        outages.push({ atMs: performance.now(), reason });
      }
      readyz.hear(reason === undefined);
      await delay(intervalMs, undefined, { signal: over.signal }).catch(() => {});
    }
  }

  const call = client.stream(Health.method.watch, { service: "" });
  call.on("data", ({ status }: HealthCheckResponse) =>
    health.hear(status === HealthCheckResponse_ServingStatus.SERVING),
  );
  // It ends with the process, or is cancelled by the test.
  call.on("error", () => health.hear(false));
  const watching = watch();
  onTestFinished(async () => {
    over.abort();
    call.cancel();
    await watching;
  });
  const changed =
    (wanted: boolean) =>
    async (fromMs: number, limitMs = waitMaxMs): Promise<number> => {
      const what = wanted ? "readiness to be on" : "readiness to be off";
      const both = [readyz, health];
      await until(what, () => both.every(({ isOn }) => isOn === wanted), limitMs);
      const untilMs = Math.max(...both.map(({ changedAtMs }) => changedAtMs));
      const lateMs = asked
        .filter(({ atMs }) => atMs > fromMs && atMs < untilMs)
        .reduce((sum, { tookMs }) => sum + Math.max(0, tookMs - promptMs), 0);
      return Math.max(0, untilMs - fromMs - lateMs);
    };
  return {
    notReadySince: changed(false),
    readySince: changed(true),
    outages,
    get livenessMaxMs() {
      return livenessMaxMs;
    },
  };
}

class Readiness {
  isOn = true;
  changedAtMs = 0;

  hear(isOn: boolean): void {
    if (isOn === this.isOn) {
      return;
    }
    this.isOn = isOn;
    this.changedAtMs = performance.now();
  }
}
