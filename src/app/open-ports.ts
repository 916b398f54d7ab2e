// Opens the ports of the service, with the limits from its settings.

import cluster from "node:cluster";
import type { Clock } from "../platform/base/clock.ts";
import type { Config } from "../platform/config/keys.ts";
import { readTlsFiles } from "../platform/config/tls-files.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import { listenForMetrics } from "../surfaces/http/metrics-port.ts";
import {
  listenOnePort,
  type OnePortHandler,
  type OnePortLimits,
  type OnePortServer,
} from "../surfaces/http/one-port.ts";
import { listenersMax } from "../surfaces/http/port/listeners.ts";

/** Where the service listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** The port for HTTP/2; undefined when one port serves both protocols. */
  readonly h2Port: number | undefined;
}

/** Opens the metrics port. Returns its number; undefined when the settings name no port. */
export async function openMetricsPort(
  { metricsHost: host, metricsPort: port }: Config,
  metrics: Pick<Metrics, "contentType" | "print">,
  closers: AsyncDisposableStack,
): Promise<number | undefined> {
  if (port === undefined) {
    return undefined;
  }
  const server = await listenForMetrics({ host, port }, metrics);
  closers.defer(() => server.close());
  return server.port;
}

/** Opens one port for both HTTP/1.1 and HTTP/2, or one for each. */
export async function openPorts(
  config: Config,
  { clock, handler, closers }: { clock: Clock; handler: OnePortHandler; closers: AsyncDisposableStack },
): Promise<Address> {
  const tls = readTlsFiles(config);
  const limits = portLimits(config);
  // Workers get connections from their primary, which has time to accept all of them.
  const listeners = cluster.isWorker ? 1 : listenersMax;
  const servers: OnePortServer[] = [];
  closers.defer(async () => {
    await Promise.all(servers.map((server) => server.shutdown(config.serverDrainSeconds * 1_000)));
  });
  const open = async (port: number, protocols: "both" | "h1" | "h2"): Promise<OnePortServer["address"]> => {
    const { serverHost: host } = config;
    const server = await listenOnePort({
      host,
      port,
      listeners,
      clock,
      handler,
      limits,
      protocols,
      ...(tls && { tls }),
    });
    servers.push(server);
    return server.address;
  };
  const { serverPort, serverH2Port } = config;
  const first = await open(serverPort, serverH2Port === undefined ? "both" : "h1");
  const second = serverH2Port === undefined ? undefined : await open(serverH2Port, "h2");
  return { ...first, h2Port: second?.port };
}

function portLimits(config: Config): Partial<OnePortLimits> {
  const receiveMs = config.serverReadTimeoutSec * 1_000;
  const idleMs = config.serverIdleTimeoutSec * 1_000;
  return {
    connectionsMax: config.serverConnectionsMax,
    connectionsPerAddressMax: config.serverConnectionsPerAddressMax,
    h1HeadersTimeoutMs: config.serverReadHeaderTimeoutSec * 1_000,
    h1RequestTimeoutMs: receiveMs,
    h2RequestTimeoutMs: receiveMs,
    h1KeepAliveTimeoutMs: idleMs,
    h2IdleTimeoutMs: idleMs,
    h2StreamsMax: config.serverStreamsPerConnectionMax,
  };
}
