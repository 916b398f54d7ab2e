// Readers that continue after every cut, over gRPC or SSE, until the server says that the run's log has ended.

import { type ServiceError, status } from "@grpc/grpc-js";
import { LogReader, SseLogReader } from "../log-reader.ts";
import type { Crew, Member } from "./crew.ts";
import type { Cell } from "./scenarios.ts";

export interface Reading {
  readonly count: number;
  /** Continues reading at this process until the stream ends; true when the whole log has been read. */
  follow(member: Member): Promise<boolean>;
  /** The results in a form that can be compared with another reading over the same surface. */
  print(): readonly string[];
}

export function openReading(surface: Cell["surface"], runId: string): Reading {
  return surface === "grpc" ? new GrpcReading(runId) : new SseReading(runId);
}

/** Reads to the end, at home while that process lives. Stops early only when the crew is closed. */
export async function readToEnd(reading: Reading, home: Member, crew: Crew): Promise<void> {
  let isOver = false;
  while (!isOver && !crew.isClosed) {
    isOver = await reading.follow(await crew.someone(home));
  }
}

export class GrpcReading implements Reading {
  readonly reader: LogReader;

  constructor(runId: string) {
    this.reader = new LogReader(runId);
  }

  get count(): number {
    return this.reader.results.length;
  }

  async follow({ client }: Member): Promise<boolean> {
    const ended = await this.reader.follow(client);
    if (ended !== status.OK && ended !== status.UNAVAILABLE) {
      throw new Error(`a reader's stream ended with ${status[ended]}`);
    }
    return ended === status.OK;
  }

  print(): readonly string[] {
    return this.reader.results.map(({ sequence, payload }) => `${sequence} ${payload.case}`);
  }
}

class SseReading implements Reading {
  readonly #reader: SseLogReader;

  constructor(runId: string) {
    this.#reader = new SseLogReader(runId);
  }

  get count(): number {
    return this.#reader.events.length;
  }

  /** A reader that resumes with the id of the last event learns only from an empty answer that nothing more follows. */
  async follow({ url }: Member): Promise<boolean> {
    const ended = await this.#reader.follow(url);
    return ended === "finished" || isTerminal(this.#reader.events.at(-1));
  }

  print(): readonly string[] {
    return this.#reader.events;
  }
}

function isTerminal(event: string | undefined): boolean {
  const names = Object.keys(JSON.parse(event ?? "{}"));
  return names.includes("run_completed") || names.includes("run_failed");
}

/** True for a process that is gone, or that is leaving. */
export function isUnavailable(error: unknown): boolean {
  return (error as Partial<ServiceError>).code === status.UNAVAILABLE;
}
