// The metrics port, which Prometheus reads: its own listener, so that metrics never leave by the public port.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault } from "../../platform/base/fault.ts";
import type { Metrics } from "../../platform/telemetry/metrics.ts";
import { setAnswerHeaders } from "./answer-headers.ts";

/** A metrics client sends one line and reads at once. */
const requestTimeoutMs = 5_000;

/** The open metrics port. */
export interface MetricsPort {
  readonly port: number;
  close(): Promise<void>;
}

/** The address of the metrics port; port 0 lets the system choose. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** Serves the metrics at `GET /metrics`. Throws Fault CONFIG_INVALID when the port cannot be opened. */
export async function listenForMetrics(
  { host, port }: MetricsAddress,
  metrics: Pick<Metrics, "contentType" | "print">,
): Promise<MetricsPort> {
  const server = createServer(
    { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs },
    (request, response) => {
      setAnswerHeaders(response);
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
      `cannot serve metrics: ${why}: set RUNNEL_METRICS_PORT to a free port, or correct RUNNEL_METRICS_HOST`,
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
