// Where Prometheus reads: a listener of its own, so that what it tells never leaves by the public port.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault } from "../../platform/base/fault.ts";
import type { Metrics } from "../../platform/telemetry/metrics.ts";

/** A reader of figures sends a line and reads at once. */
const requestTimeoutMs = 5_000;

export interface MetricsPort {
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

export async function listenForMetrics({ host, port }: MetricsAddress, metrics: Metrics): Promise<MetricsPort> {
  const server = createServer(
    { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs },
    (request, response) => {
      if (request.method !== "GET" || request.url !== "/metrics") {
        response.writeHead(404).end();
        return;
      }
      metrics.print().then(
        (text) => response.writeHead(200, { "content-type": metrics.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    },
  );
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault(
      "CONFIG_INVALID",
      `cannot serve metrics: ${why}: set RUNNEL_METRICS_PORT to a free port, or mend RUNNEL_METRICS_HOST`,
      {
        cause: error,
      },
    );
  }
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
