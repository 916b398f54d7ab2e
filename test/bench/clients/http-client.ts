// A cheap client for REST and SSE: node:http with kept connections. It cuts out events but does not interpret them.

import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { bearerHeaders, signHeaders } from "../harness/credentials.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Above any concurrency that a bench uses: the pool itself must not become the thing that is measured. */
const socketsMax = 512;
/** Without an answer or event for this long, a call has failed and is not merely slow. */
const silenceTimeoutMs = 30_000;

export class HttpClient implements Disposable {
  readonly #url: string;
  readonly #credentials: "bearer" | "signed" | Readonly<Record<string, string>>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: socketsMax });

  /** "signed" signs each request as clients of the Agent Runner document do. Headers are sent as they are. */
  constructor(url: string, credentials: "bearer" | "signed" | Readonly<Record<string, string>> = "bearer") {
    this.#url = url;
    this.#credentials = credentials;
  }

  async send(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<HttpAnswer> {
    const response = await this.#open(method, path, body);
    return { status: response.statusCode ?? 0, text: await text(response) };
  }

  async put(path: string, bytes: Uint8Array): Promise<HttpAnswer> {
    const response = await this.#open("PUT", path, bytes);
    return { status: response.statusCode ?? 0, text: await text(response) };
  }

  /** Passes on each block of an event stream, comments included, and resolves when the server ends the stream. */
  async events(method: "GET" | "POST", path: string, onBlock: (block: string) => void, body?: object): Promise<void> {
    const response = await this.#open(method, path, body);
    if (response.statusCode !== 200) {
      throw new Error(`${path}: ${response.statusCode} ${await text(response)}`);
    }
    response.setEncoding("utf8");
    let rest = "";
    for await (const chunk of response as AsyncIterable<string>) {
      rest += chunk;
      let start = 0;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n", start)) {
        onBlock(rest.slice(start, end));
        start = end + 2;
      }
      rest = rest.slice(start);
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #open(method: string, path: string, body: object | Uint8Array | undefined): Promise<IncomingMessage> {
    const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
    const bodyHeaders = bytes && { "content-type": "application/json", "content-length": bytes.length };
    const headers = { ...this.#sign(bytes), ...bodyHeaders };
    return new Promise((resolve, reject) => {
      request(this.#url + path, { method, agent: this.#agent, headers, timeout: silenceTimeoutMs })
        .once("response", resolve)
        .once("timeout", function (this: { destroy(error: Error): void }) {
          this.destroy(new Error(`${path}: silent for ${silenceTimeoutMs} ms`));
        })
        .once("error", reject)
        .end(bytes);
    });
  }

  #sign(bytes: Uint8Array | undefined): Readonly<Record<string, string>> {
    return typeof this.#credentials === "object"
      ? this.#credentials
      : this.#credentials === "signed"
        ? signHeaders(bytes)
        : bearerHeaders;
  }
}
