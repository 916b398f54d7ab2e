// What a coding agent does, in the order in which it came: the driver takes one after the other.

import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { waitingUpdatesMax } from "./limits.ts";
import type { UpdateTaker } from "./line-stream.ts";

/** A thing that happened. `look` says that an approval may have been decided. */
export type Happening =
  | { readonly kind: "update"; readonly update: unknown; readonly sessionId: unknown }
  | {
      readonly kind: "asked";
      readonly request: RequestPermissionRequest;
      readonly answer: (outcome: RequestPermissionResponse["outcome"]) => void;
    }
  | { readonly kind: "ended"; readonly outcome: PromptEnd }
  | { readonly kind: "look" }
  | { readonly kind: "stopped" };

/** How a prompt ended. */
export type PromptEnd =
  | { readonly stopReason: string; readonly usage: Readonly<Record<string, unknown>> | undefined }
  | { readonly error: unknown };

/** The queue of one run. */
export class Happenings implements UpdateTaker {
  #waiting: Happening[] = [];
  #wake: (() => void) | undefined;
  #resume: (() => void) | undefined;

  push(happening: Happening): void {
    this.#waiting.push(happening);
    this.#wake?.();
  }

  take(update: unknown, sessionId: unknown): boolean {
    this.push({ kind: "update", update, sessionId });
    return this.#waiting.length < waitingUpdatesMax;
  }

  onRoom(resume: () => void): void {
    this.#resume = resume;
  }

  /** Returns all that has happened since the last call, at least one thing. */
  async next(): Promise<readonly Happening[]> {
    if (this.#waiting.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    const taken = this.#waiting;
    this.#waiting = [];
    this.#resume?.();
    return taken;
  }
}
