// The metrics of a service as Prometheus reads them.

import type { TestService } from "../harness/service.ts";

export interface MetricsText {
  readonly text: string;
  /**
   * Returns the value of one series, written as in the text: name and labels in their order. Returns undefined when it does not
   * exist.
   */
  value(series: string): number | undefined;
  /** Every described metric, with its type. */
  readonly types: ReadonlyMap<string, string>;
}

/** `service` needs the flag `metricsPort: 0`. */
export async function readMetrics({ app }: TestService): Promise<MetricsText> {
  const response = await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`);
  if (!response.ok) {
    throw new Error(`the metrics answered ${response.status}`);
  }
  return parseMetrics(await response.text());
}

export function parseMetrics(text: string): MetricsText {
  const values = new Map<string, number>();
  for (const [, series = "", value] of text.matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm)) {
    values.set(series, Number(value));
  }
  const types = new Map(
    Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = "", type = ""]) => [name, type]),
  );
  return { text, types, value: (series) => values.get(series) };
}
