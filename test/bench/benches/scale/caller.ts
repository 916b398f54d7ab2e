// Makes the calls of routes, with what earlier calls of the same service have given.

import { HttpClient } from "../../clients/http-client.ts";
import type { Route } from "./routes.ts";

export class Caller implements Disposable {
  readonly #url: string;
  readonly #clients = new Map<string, HttpClient>();
  readonly #kept = new Map<string, string>();

  constructor(url: string) {
    this.#url = url;
  }

  /** Throws unless the call succeeds. */
  async call({ call, body, keeps = {}, headers }: Route): Promise<void> {
    const [method, path] = this.#fill(call).split(" ") as ["GET" | "POST" | "PUT" | "DELETE", string];
    const http = this.#clientOf(headers);
    const { status, text } = await http.send(method, path, body && JSON.parse(this.#fill(JSON.stringify(body))));
    if (status >= 300) {
      throw new Error(`${method} ${path}: ${status} ${text}`);
    }
    for (const [name, place] of Object.entries(keeps)) {
      this.#kept.set(name, readPlace(JSON.parse(text), place));
    }
  }

  /** Returns what a call has kept. */
  kept(name: string): string {
    return this.#kept.get(name) ?? "";
  }

  #fill(text: string): string {
    return text.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(this.kept(name)));
  }

  #clientOf(headers: Route["headers"]): HttpClient {
    const filled = headers === undefined ? "" : this.#fill(JSON.stringify(headers));
    const known = this.#clients.get(filled) ?? new HttpClient(this.#url, headers && JSON.parse(filled));
    this.#clients.set(filled, known);
    return known;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) {
      client[Symbol.dispose]();
    }
  }
}

/** Returns a text in an answer: `sessions.0.id` is the id of the first session. */
function readPlace(answer: unknown, place: string): string {
  const found = place.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], answer);
  if (typeof found !== "string") {
    throw new Error(`an answer has no ${place}: ${JSON.stringify(answer).slice(0, 500)}`);
  }
  return found;
}
