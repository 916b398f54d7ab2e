// `runnel mcp`: the MCP server of a service, for programs that start their servers and talk over standard input and output. It
// passes messages on, of either era, and adds the headers that HTTP has in addition.
//
// B1  Every request gets an answer: a failure of the connection is one too.
// B2  A stream of a session that breaks is resumed after its last event, so each message arrives once.

import type { Command } from "commander";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { systemClock } from "../../platform/base/clock.ts";
import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";
import { example } from "../example.ts";
import { readLines } from "../input.ts";
import { addServiceFlags, findTarget, type ServiceFlags, type Target } from "../target.ts";
import { printJson } from "../terminal.ts";

/** Adds the bridge to the command. */
export function addBridge(mcp: Command): void {
  addServiceFlags(mcp)
    .addHelpText("after", example("RUNNEL_API_KEY=the-key runnel mcp --url http://127.0.0.1:8090"))
    .action(async (flags: ServiceFlags) => await new Bridge(await findTarget(flags, process.env)).run());
}

type Message = Readonly<Record<string, unknown>>;

/** The connection of one program. */
class Bridge {
  readonly #endpoint: string;
  readonly #key: string;
  /** The requests that are not answered, by the JSON of their ids. */
  readonly #open = new Map<string, AbortController>();
  readonly #over = new AbortController();
  #session: { readonly id: string; readonly version: string } | undefined;

  constructor({ url, apiKey }: Target) {
    this.#endpoint = new URL("/mcp", url).href;
    this.#key = apiKey;
  }

  /** Passes messages on until standard input ends. Nothing is left to tell then. */
  async run(): Promise<void> {
    const sent: Promise<void>[] = [];
    for await (const line of readLines("-")) {
      const message = parseObject(line);
      if (message === undefined) {
        if (line.trim() !== "") {
          await this.#refuse(null, -32700, "the line is no JSON object");
        }
        continue;
      }
      const passed = this.#pass(message).catch((error: unknown) => this.#fail(message, error));
      // What follows is of the session that this opens.
      if (message.method === "initialize") {
        await passed;
      } else {
        sent.push(passed);
      }
    }
    this.#over.abort();
    await Promise.all(sent);
  }

  async #pass(message: Message): Promise<void> {
    const { id, method, params } = message;
    if (method === "notifications/cancelled" && this.#session === undefined) {
      // Without sessions a request is cancelled by the end of its connection.
      this.#open.get(JSON.stringify(isObject(params) ? params.requestId : undefined))?.abort();
      return;
    }
    const leaving = new AbortController();
    const key = JSON.stringify(id);
    if (id !== undefined && method !== undefined) {
      this.#open.set(key, leaving);
    }
    const signal = AbortSignal.any([leaving.signal, this.#over.signal]);
    try {
      const response = await fetch(this.#endpoint, {
        method: "POST",
        headers: { ...this.#headers(), ...headersOf(message), "content-type": "application/json" },
        body: JSON.stringify(message),
        signal,
      });
      if (method === "initialize") {
        this.#session = { id: response.headers.get("mcp-session-id") ?? "", version: "" };
      }
      await this.#take(response, message, signal);
    } catch (error) {
      if (!leaving.signal.aborted) {
        throw error;
      }
    } finally {
      this.#open.delete(key);
    }
  }

  async #take(response: Response, message: Message, signal: AbortSignal): Promise<void> {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream) {
      const answer = parseObject(await response.text());
      if (answer !== undefined && message.id !== undefined) {
        await this.#tell(answer.id === null ? { ...answer, id: message.id } : answer, message);
      }
      return;
    }
    let stream: Response | undefined = response;
    let lastId = "";
    while (stream !== undefined && !signal.aborted) {
      const end: { isAnswered: boolean; lastId: string } = await this.#read(stream, message);
      lastId = end.lastId || lastId;
      if (end.isAnswered || message.id === undefined) {
        return;
      }
      if (lastId === "") {
        throw new Error("the connection was lost before the answer");
      }
      stream = await this.#resume(lastId, signal);
    }
  }

  /** Passes the events of a stream on. */
  async #read(stream: Response, message: Message): Promise<{ isAnswered: boolean; lastId: string }> {
    const end = { isAnswered: false, lastId: "" };
    const arrived: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => arrived.push(event) });
    try {
      for await (const text of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        parser.feed(text);
        for (const { id = "", data } of arrived.splice(0)) {
          end.lastId = id || end.lastId;
          const told = data === "" ? undefined : parseObject(data);
          if (told !== undefined) {
            await this.#tell(told, message);
            end.isAnswered ||= told.method === undefined && told.id === message.id;
          }
        }
      }
    } catch {
      // The caller asks for the rest.
    }
    return end;
  }

  /** Opens the rest of a stream. Tries again while the service cannot be reached. */
  async #resume(lastId: string, signal: AbortSignal): Promise<Response | undefined> {
    for (let attempt = 1; !signal.aborted; attempt++) {
      await systemClock.sleep(retryMs, signal);
      try {
        const headers = { ...this.#headers(), accept: "text/event-stream", "last-event-id": lastId };
        const response = await fetch(this.#endpoint, { headers, signal });
        if (response.ok) {
          return response;
        }
        throw new Error(`the stream is lost: ${response.status} ${await response.text()}`);
      } catch (error) {
        if (attempt >= attemptsMax) {
          throw error;
        }
      }
    }
    return undefined;
  }

  async #tell(told: Message, { method }: Message): Promise<void> {
    const { result } = told;
    if (method === "initialize" && isObject(result) && this.#session !== undefined) {
      this.#session = { ...this.#session, version: String(result.protocolVersion) };
      void this.#follow();
    }
    await printJson(told);
  }

  /** Passes on what the service says by itself, as long as the session lasts. */
  async #follow(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const headers = { ...this.#headers(), accept: "text/event-stream" };
      const stream = await fetch(this.#endpoint, { headers, signal: this.#over.signal }).catch(() => undefined);
      if (stream?.ok === true) {
        await this.#read(stream, {});
      } else {
        await stream?.body?.cancel();
      }
      await systemClock.sleep(retryMs, this.#over.signal);
    }
  }

  #headers(): Record<string, string> {
    const { id = "", version = "" } = this.#session ?? {};
    return {
      accept: "application/json, text/event-stream",
      ...(this.#key !== "" && { authorization: `Bearer ${this.#key}` }),
      ...(id !== "" && { "mcp-session-id": id }),
      ...(version !== "" && { "mcp-protocol-version": version }),
    };
  }

  async #fail({ id, method }: Message, error: unknown): Promise<void> {
    if (id !== undefined && method !== undefined && !this.#over.signal.aborted) {
      const why = error instanceof Error ? error.message : String(error);
      await this.#refuse(id, -32603, `no answer from ${this.#endpoint}: ${why}`);
    }
  }

  async #refuse(id: unknown, code: number, message: string): Promise<void> {
    await printJson({ jsonrpc: "2.0", id, error: { code, message } });
  }
}

/** A replica that dies is replaced within seconds. */
const retryMs = 1_000;
const attemptsMax = 60;

/** Returns the headers that repeat what a message without a session says. */
function headersOf({ method, params }: Message): Record<string, string> {
  const { _meta: meta, name, uri, taskId } = isObject(params) ? params : {};
  const version = isObject(meta) ? meta["io.modelcontextprotocol/protocolVersion"] : undefined;
  if (typeof version !== "string" || typeof method !== "string") {
    return {};
  }
  const named = [name, uri, taskId].find((each) => typeof each === "string");
  return {
    "mcp-protocol-version": encode(version),
    "mcp-method": encode(method),
    ...(named !== undefined && { "mcp-name": encode(named) }),
  };
}

/** Values that a header cannot have travel in base64. */
function encode(text: string): string {
  return /^[!-~]+( [!-~]+)*$/.test(text) ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
