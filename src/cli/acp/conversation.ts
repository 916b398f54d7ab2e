// A session that an editor has open: sends its prompts, and tells the editor what its runs do, one run after the other. The runs go on
// without the editor, and a stream that breaks is resumed after its last result.

import { type AgentContext, type ContentBlock, RequestError, type SessionUpdate } from "@agentclientprotocol/sdk";
import type { ChildRunStarted, RunResult } from "#gen/runnel/v1/result_pb.js";
import { newRequestId } from "../../platform/base/ids.ts";
import { pageSizeMax, readPages } from "../../platform/base/lists.ts";
import type { Service } from "../connect.ts";
import { callPatiently, followRun, patienceMs } from "../follow.ts";
import { sayLine } from "../terminal.ts";
import { blocksOf, messageOf } from "./content.ts";
import { dropVoid, type RunEnd, RunFold } from "./fold.ts";
import { Permissions } from "./permissions.ts";

/** What a conversation is built on. */
export interface ConversationContext {
  readonly service: Service;
  readonly client: AgentContext;
  /** Aborts when the editor is gone. */
  readonly signal: AbortSignal;
  readonly sessionId: string;
  /** The absolute path in which the tools work; undefined when it is not the editor's. */
  readonly directory: string | undefined;
}

/** The runs of one session. */
export class Conversation {
  readonly #context: ConversationContext;
  /** The updates for the editor: of one run at a time. */
  #telling: Promise<unknown> = Promise.resolve();
  #sending: Promise<unknown> = Promise.resolve();
  readonly #closed = new AbortController();

  constructor(context: ConversationContext) {
    this.#context = { ...context, signal: AbortSignal.any([context.signal, this.#closed.signal]) };
  }

  /** Ends the updates: the session was opened again or deleted. */
  close(): void {
    this.#closed.abort();
  }

  /** Sends a prompt and returns the id of its run. `model` is undefined for that of the agent. */
  async send(blocks: readonly ContentBlock[], model: string | undefined): Promise<string> {
    const { service, sessionId, signal } = this.#context;
    const message = messageOf(blocks);
    const agent = model === undefined ? {} : { agent: { model } };
    const request = { sessionId, messages: [message], ...agent, queueIfBusy: true, requestId: newRequestId() };
    const sending = callPatiently(() => service.sessions.sendMessage(request), signal);
    this.#sending = sending.catch(() => {});
    return (await sending).runId;
  }

  /** Tells what a run does, and returns its end. */
  follow(runId: string): Promise<RunEnd> {
    return this.#inOrder(() => this.#follow(this.#foldOf(runId), 0n));
  }

  /** Cancels the active runs. A prompt that is being sent becomes one first. */
  async cancel(): Promise<void> {
    const { service, sessionId, signal } = this.#context;
    await this.#sending;
    await callPatiently(() => service.runs.cancelRuns({ sessionId }), signal);
  }

  /**
   * Reads the runs of the session. Tells the editor what they did, when it `replays`. Resolves after the last ended run, and goes on to
   * follow the active ones. Returns whether there are runs.
   */
  async open({ replays }: { readonly replays: boolean }): Promise<boolean> {
    const { service, sessionId } = this.#context;
    const runs = await readPages(async (pageToken) => {
      const page = await service.runs.listRuns({ sessionId, pageSize: pageSizeMax, pageToken });
      return { items: page.runs, nextPageToken: page.nextPageToken };
    });
    for (const [index, { runId }] of runs.reverse().entries()) {
      const goOn = await this.#replay(runId, replays);
      if (goOn !== undefined) {
        const waiting = runs.slice(index + 1);
        void this.#inOrder(async () => {
          await goOn();
          for (const next of waiting) {
            await (await this.#replay(next.runId, true))?.();
          }
        }).catch((error: unknown) => this.#context.signal.aborted || sayLine(`session ${sessionId}: ${String(error)}`));
        break;
      }
    }
    return runs.length > 0;
  }

  /** Tells what a run did. Returns how to follow the rest of an active run. */
  async #replay(runId: string, replays: boolean): Promise<(() => Promise<RunEnd>) | undefined> {
    const { runs } = this.#context.service;
    const { messages } = await runs.getRunInput({ runId });
    const results = await readPages<RunResult>(async (pageToken) => {
      const page = await runs.listRunResults({ runId, pageSize: pageSizeMax, pageToken });
      return { items: page.results, nextPageToken: page.nextPageToken };
    });
    const asked = messages
      .filter(({ role }) => role === "user")
      .flatMap(blocksOf)
      .map((content) => ({ sessionUpdate: "user_message_chunk", messageId: `${runId}.user`, content }) as const);
    const fold = this.#foldOf(runId);
    const kept = dropVoid(results);
    const said = kept.flatMap((result) => fold.take(result));
    if (replays) {
      await this.#tell([...asked, ...said]);
    }
    return fold.end === undefined ? () => this.#follow(fold, results.at(-1)?.sequence ?? 0n, kept) : undefined;
  }

  /** Tells what a run does from here on, and asks for what it still waits for. Returns its end. */
  async #follow(fold: RunFold, after: bigint, before: readonly RunResult[] = []): Promise<RunEnd> {
    const { service, signal } = this.#context;
    using permissions = new Permissions({ ...this.#context, idOf: (toolCallId) => fold.idOf(toolCallId) });
    for (const result of before) {
      permissions.take(result);
    }
    this.#followOpenChildren(before);
    const onReconnect = (last: bigint, why: string) => sayLine(`(${why}: going on after ${last})`);
    const { runId } = fold;
    for await (const result of followRun(service.runs, { runId, after, patienceMs, signal, onReconnect })) {
      await this.#tell(fold.take(result));
      permissions.take(result);
      this.#followOpenChildren([result]);
    }
    if (fold.end === undefined) {
      throw RequestError.internalError(undefined, "the session was closed");
    }
    return fold.end;
  }

  /** Follows the child runs of these results whose calls have not ended. */
  #followOpenChildren(results: readonly RunResult[]): void {
    const open = new Map<string, ChildRunStarted>();
    for (const { payload } of results) {
      if (payload.case === "childRunStarted") {
        open.set(payload.value.toolCallId, payload.value);
      } else if (payload.case === "toolCallCompleted") {
        open.delete(payload.value.toolCallId);
      }
    }
    for (const started of open.values()) {
      void this.#followChild(started).catch((error: unknown) => {
        if (!this.#context.signal.aborted) {
          sayLine(`child run ${started.runId}: ${String(error)}`);
        }
      });
    }
  }

  /** Shows the calls of a child run, and asks for what it waits for. Its text comes with the result of its call. */
  async #followChild({ runId, toolName: name }: ChildRunStarted): Promise<void> {
    const { service, signal } = this.#context;
    const fold = this.#foldOf(runId);
    using permissions = new Permissions({ ...this.#context, idOf: (toolCallId) => fold.idOf(toolCallId) });
    const onReconnect = () => {};
    for await (const result of followRun(service.runs, { runId, after: 0n, patienceMs, signal, onReconnect })) {
      await this.#tell(fold.take(result).flatMap((update) => ofChild(name, update)));
      permissions.take(result);
      this.#followOpenChildren([result]);
    }
  }

  #foldOf(runId: string): RunFold {
    return new RunFold(runId, this.#context.directory);
  }

  async #tell(updates: readonly SessionUpdate[]): Promise<void> {
    const { client, sessionId } = this.#context;
    for (const update of updates) {
      await client.notify("session/update", { sessionId, update });
    }
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#telling.then(work);
    this.#telling = next.catch(() => {});
    return next;
  }
}

/** Returns an update of a child run that shows a call, with the name of its agent. */
function ofChild(name: string, update: SessionUpdate): SessionUpdate[] {
  switch (update.sessionUpdate) {
    case "tool_call":
      return [{ ...update, title: `${name}: ${update.title}` }];
    case "tool_call_update":
      return [update];
    default:
      return [];
  }
}
