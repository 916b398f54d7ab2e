// The calls of a server that may ask a person for forms. A form does not say which call it belongs to, so these calls run one after
// another. The time of a call stands still while a person fills in a form.

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { type Clock, over } from "../../../platform/base/clock.ts";
import type { ToolContext } from "../tool.ts";
import type { CallTimes, ElicitResult, FormRequest } from "./connection.ts";
import { formMessageCharsMax, formSchemaBytesMax, formsMax } from "./limits.ts";

/** What the calls need of their server. */
export interface FormCallsOptions extends CallTimes {
  readonly server: string;
  readonly clock: Clock;
  /** Hides the secrets of the server. */
  readonly hide: (text: string) => string;
}

interface Current {
  readonly context: ToolContext;
  readonly timer: CallTimer;
  readonly ended: AbortSignal;
  forms: number;
}

/** The calls of one server in one run. */
export class FormCalls {
  readonly #options: FormCallsOptions;
  #last: Promise<unknown> = Promise.resolve();
  #current: Current | undefined;

  constructor(options: FormCallsOptions) {
    this.#options = options;
  }

  /** Makes a call when those before it have ended. */
  async run<T>(context: ToolContext, call: (timer: CallTimer) => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    const ended = new AbortController();
    using timer = new CallTimer(this.#options.clock, this.#options);
    this.#current = { context, timer, ended: ended.signal, forms: 0 };
    try {
      context.signal.throwIfAborted();
      return await call(timer);
    } finally {
      this.#current = undefined;
      ended.abort(over);
      resolve();
    }
  }

  /** Answers a form of the server. */
  async answer({ message, requestedSchema, signal }: FormRequest): Promise<ElicitResult> {
    const current = this.#current;
    const ask = current?.context.ask;
    if (current === undefined || ask === undefined) {
      return { action: "cancel" };
    }
    const { server, hide } = this.#options;
    const schema = JSON.stringify(requestedSchema);
    if (Buffer.byteLength(schema) > formSchemaBytesMax || message.length > formMessageCharsMax) {
      const limits = `${formSchemaBytesMax} bytes of schema and ${formMessageCharsMax} characters of message`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `the form is longer than ${limits}`);
    }
    current.forms += 1;
    if (current.forms > formsMax) {
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `the call has asked for ${formsMax} forms`);
    }
    const form = {
      ...{ server, message: hide(message), schema: hide(schema) },
      signal: AbortSignal.any([signal, current.context.signal, current.ended]),
    };
    const answer = await current.timer.standStill(() => ask(form));
    return answer.action === "accept" ? { action: "accept", content: JSON.parse(answer.values) } : answer;
  }
}

/** Aborts its signal when a call takes too long. */
export class CallTimer implements Disposable {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #late = new AbortController();
  readonly #ended = new AbortController();
  #totalEndMs: number;
  #idleEndMs: number;
  /** How many forms wait for a person. */
  #forms = 0;
  #stoodStillAtMs = 0;

  constructor(clock: Clock, { totalMs, idleMs }: CallTimes) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#totalEndMs = clock.monotonicMs() + totalMs;
    this.#idleEndMs = clock.monotonicMs() + idleMs;
    void this.#watch();
  }

  get signal(): AbortSignal {
    return this.#late.signal;
  }

  /** Begins the idle time anew. */
  progress(): void {
    this.#idleEndMs = this.#clock.monotonicMs() + this.#idleMs;
  }

  /** Stands still during a job. */
  async standStill<T>(job: () => Promise<T>): Promise<T> {
    if (this.#forms++ === 0) {
      this.#stoodStillAtMs = this.#clock.monotonicMs();
    }
    try {
      return await job();
    } finally {
      if (--this.#forms === 0) {
        this.#totalEndMs += this.#clock.monotonicMs() - this.#stoodStillAtMs;
        this.progress();
      }
    }
  }

  [Symbol.dispose](): void {
    this.#ended.abort(over);
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const restMs = Math.min(this.#totalEndMs, this.#idleEndMs) - this.#clock.monotonicMs();
      if (this.#forms === 0 && restMs <= 0) {
        this.#late.abort(new Error("the server did not answer in time"));
        return;
      }
      await this.#clock.sleep(this.#forms === 0 ? restMs : this.#idleMs, signal);
    }
  }
}
