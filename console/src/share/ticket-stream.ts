// Follows a run with the ticket of a shared link, by one EventSource. It stays open while the tab is hidden: a stream that is open
// when the ticket expires continues, and a closed one cannot be opened again.
//
// A browser hides why a stream failed. CONNECTING means that the connection broke: the browser opens it again by itself, and sends
// the number of the last event. CLOSED means an answer that is no stream: the service refused the ticket, or a proxy did not reach
// the service.

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { Pace } from "../lib/stream.ts";
import type { FollowEntries, RunLog } from "../run/run-log.ts";
import { readEntry } from "./read-entry.ts";

/** A ticket that has worked may be refused for the moment in which the service restarts behind a proxy. */
const refusedRetriesMs = [1_000, 2_000, 4_000];

/** An EventSource gives only the events whose names it knows: those of the types of entries. */
const types = RunResultSchema.oneofs.flatMap(({ fields }) => fields.map(({ name }) => name.replaceAll("_", ".")));

export function followByTicket(ticket: string): FollowEntries {
  return (log) => {
    const stream = new TicketStream(log, ticket);
    stream.open();
    return () => stream.close();
  };
}

class TicketStream {
  readonly #log: RunLog;
  readonly #ticket: string;
  #source: EventSource | undefined;
  #pace: Pace | undefined;
  #refusals = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(log: RunLog, ticket: string) {
    this.#log = log;
    this.#ticket = ticket;
  }

  open(): void {
    const query = new URLSearchParams({ ticket: this.#ticket, after: String(this.#log.cursor) });
    const source = new EventSource(`${serviceUrl}/v1/runs/${this.#log.runId}/results:tail?${query}`);
    this.#source = source;
    source.addEventListener("open", () => this.#begin());
    for (const type of types) {
      source.addEventListener(type, ({ data }) => this.#take(readEntry(String(data))));
    }
    source.addEventListener("end", () => this.#end());
    source.addEventListener("error", (event) => {
      // The service sends an event of this name too, before it closes a connection.
      if (!(event instanceof MessageEvent)) {
        this.#fail(source.readyState);
      }
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#pace?.stop();
    this.#source?.close();
  }

  #begin(): void {
    if (this.#log.cursor > 0) {
      this.#log.countResume();
    }
    this.#refusals = 0;
    this.#pace = new Pace(() => this.#log.setPhase({ name: "live" }));
    this.#log.setPhase({ name: "catching-up" });
    this.#pace.note(undefined);
  }

  /** An event of an unknown type does not arrive. An entry without content takes its place, so that the numbers stay whole. */
  #take(entry: RunResult): void {
    const { runId, createTime } = entry;
    const missing: RunResult[] = [];
    for (let sequence = BigInt(this.#log.cursor + 1); sequence < entry.sequence; sequence += 1n) {
      missing.push(create(RunResultSchema, { runId, sequence, ...(createTime && { createTime }) }));
    }
    this.#pace?.note(this.#log.take([...missing, entry]));
  }

  #end(): void {
    this.close();
    this.#log.setPhase({ name: "ended" });
  }

  #fail(readyState: number): void {
    this.#pace?.stop();
    if (this.#log.hasEnded) {
      this.#end();
    } else if (readyState === EventSource.CONNECTING) {
      this.#reconnect(0, "The service cannot be reached.");
    } else {
      this.#refuse();
    }
  }

  #refuse(): void {
    const retryMs = this.#log.cursor > 0 ? refusedRetriesMs[this.#refusals] : undefined;
    this.#refusals += 1;
    if (retryMs === undefined) {
      const error = new ConnectError("the link is expired or unknown", Code.Unauthenticated);
      this.#log.setPhase({ name: "refused", error });
      return;
    }
    this.#reconnect(retryMs, "The service refused the stream.");
    this.#timer = setTimeout(() => this.open(), retryMs);
  }

  #reconnect(retryMs: number, why: string): void {
    this.#log.setPhase({ name: "reconnecting", retryAtMs: Date.now() + retryMs, why });
  }
}
