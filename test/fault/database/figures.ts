// The metrics of a process, as Prometheus reads them. The process needs a metrics port.

import { type MetricsText, parseMetrics } from "../../telemetry/read-metrics.ts";
import { linesOf, type Member } from "../cluster.ts";

export const metricsEnvironment = { RUNNEL_METRICS_PORT: "0" };

export async function readFigures(member: Member): Promise<MetricsText> {
  const [line] = [...linesOf(member, "primary.started"), ...linesOf(member, "server.listening")];
  const response = await fetch(`http://127.0.0.1:${line?.metricsPort}/metrics`);
  if (!response.ok) {
    throw new Error(`the metrics answered ${response.status}`);
  }
  return parseMetrics(await response.text());
}
