// Whether the service answers and is ready. It is apart from the state of a stream: each can fail alone.

import { Store } from "../lib/store.ts";
import { pageVisible } from "../lib/visible.ts";
import { serviceUrl } from "./transport.ts";

export type ServiceState =
  | { readonly name: "asking" | "ready" }
  | { readonly name: "not-ready"; readonly reason: string }
  | { readonly name: "unreachable" };

/** A probe costs one short request, so a new state shows soon while something is wrong. */
const calmMs = 15_000;
const troubledMs = 2_000;
const probeMs = 5_000;

/** The state of the service that serves this page. */
export const serviceState = new Store<ServiceState>({ name: "asking" });

let timer: ReturnType<typeof setTimeout> | undefined;

/** Asks at once, and then again and again while the page can be seen. */
export function watchService(): void {
  pageVisible.subscribe(() => void probe());
  void probe();
}

/** Asks now, such as after a failed stream. */
export async function probe(): Promise<void> {
  clearTimeout(timer);
  if (!pageVisible.get()) {
    return;
  }
  serviceState.set(keepEqual(await ask()));
  timer = setTimeout(() => void probe(), serviceState.get().name === "ready" ? calmMs : troubledMs);
}

async function ask(): Promise<ServiceState> {
  try {
    const answer = await fetch(`${serviceUrl}/readyz`, { cache: "no-store", signal: AbortSignal.timeout(probeMs) });
    const body: unknown = await answer.json();
    return answer.ok ? { name: "ready" } : { name: "not-ready", reason: readReason(body) };
  } catch {
    return { name: "unreachable" };
  }
}

function readReason(body: unknown): string {
  return typeof body === "object" && body !== null && "reason" in body ? String(body.reason) : "no reason given";
}

function keepEqual(next: ServiceState): ServiceState {
  const current = serviceState.get();
  return JSON.stringify(next) === JSON.stringify(current) ? current : next;
}
