// Counts the work of a call, not its time: so a test can tell linear growth from quadratic growth on any machine. Three kinds of work:
//
// - `steps`: how often blocks of JavaScript ran, by V8's precise coverage. Our code and that of packages, not Node's own.
// - `reads`: how many characters, bytes or items the native functions below have read.
// - `bytes`: how much memory was allocated on the heap. Copies of texts and lists show here, also those that V8 makes by itself.
//
// It does not see the backtracking of regular expressions: test/architecture/patterns.test.ts checks them. It needs a process of its own,
// with `meterFlags`.

import { type Profiler, Session } from "node:inspector";
import { GCProfiler, getHeapStatistics } from "node:v8";

/**
 * Without optimising compilers, because those leave out allocations, at other sizes each time. The collector runs when the meter
 * says so: what it frees late would count as if it had not been allocated.
 */
export const meterFlags: readonly string[] = [
  "--no-opt",
  "--no-maglev",
  "--no-sparkplug",
  "--expose-gc",
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
  "--single-threaded-gc",
];

/** The work of one call. */
export interface Work {
  readonly steps: number;
  readonly reads: number;
  readonly bytes: number;
}

/** Code of tests does not count, except for the examples that test the meter itself. */
const testFile = /\/test\/(?!growth\/known\.ts)/;

/** Measures calls. Open one before the code that it measures is loaded: V8 counts the blocks of functions that it compiles later. */
export class WorkMeter implements Disposable {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Measures a call. An error that it throws is an outcome like any other. */
  async measure(call: () => unknown): Promise<Work> {
    this.#takeSteps();
    globalThis.gc?.({ type: "minor" });
    using natives = new WatchedNatives();
    const collections = new GCProfiler();
    collections.start();
    const before = getHeapStatistics().used_heap_size;
    try {
      await call();
    } catch {
      // The work of a refusal counts too.
    }
    const after = getHeapStatistics().used_heap_size;
    const freed = collections
      .stop()
      .statistics.reduce(
        (sum, { beforeGC, afterGC }) =>
          sum + beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
        0,
      );
    const { reads } = natives;
    return { steps: this.#takeSteps(), reads, bytes: after - before + freed };
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }

  #takeSteps(): number {
    const { result } = this.#post("Profiler.takePreciseCoverage") as Profiler.TakePreciseCoverageReturnType;
    return result
      .filter(({ url }) => url.startsWith("file:") && !testFile.test(url))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
      .reduce((sum, { count }) => sum + count, 0);
  }

  /** The methods of the profiler answer before `post` returns. */
  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, params, (error, result) => {
      if (error !== null) {
        throw error;
      }
      answer = result;
    });
    return answer;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: it wraps functions of every kind.
type Native = (...args: any[]) => any;

/** Returns how much a native function has read. `startAt` is where the subject, a regular expression, began to search. */
type Cost = (subject: unknown, args: readonly unknown[], result: unknown, startAt: number) => number;

const whole: Cost = (subject) => lengthOf(subject);
const argument: Cost = (_, [text]) => lengthOf(text);
const found: Cost = (subject, [, from], at) => distance(subject, from, at);
const foundBack: Cost = (subject, [, from], at) =>
  Math.max(0, Math.min(lengthOf(subject), Number(from ?? Number.POSITIVE_INFINITY)) - Number(at));
const made: Cost = (_, __, result) => lengthOf(result);
const matched: Cost = (pattern, [text], match, startAt) => {
  const { lastIndex, sticky, global } = pattern as RegExp;
  if (match === null || match === false) {
    return sticky ? 1 : lengthOf(text) - startAt;
  }
  const end = Array.isArray(match)
    ? Number((match as RegExpExecArray).index) + String(match[0]).length
    : sticky || global
      ? lastIndex
      : lengthOf(text);
  return end - startAt;
};

/** V8 moves all items of a list beyond this length when the first one is taken; it trims a shorter one. */
const trimmedItemsMax = 16_384;
const shifted: Cost = (list) => (lengthOf(list) > trimmedItemsMax ? lengthOf(list) : 1);

const costs: readonly (readonly [object, Readonly<Record<string, Cost>>])[] = [
  [
    String.prototype,
    {
      indexOf: found,
      lastIndexOf: foundBack,
      includes: (subject, [, from], isFound) => (isFound === true ? 1 : distance(subject, from, -1)),
      startsWith: argument,
      endsWith: argument,
      localeCompare: whole,
      ...all(whole, ["split", "replace", "replaceAll", "match", "matchAll", "search", "normalize"]),
      ...all(whole, ["isWellFormed", "toWellFormed", "toLowerCase", "toUpperCase", "trim", "trimStart", "trimEnd"]),
    },
  ],
  [
    Array.prototype,
    {
      indexOf: found,
      lastIndexOf: whole,
      includes: whole,
      shift: shifted,
      ...all(made, ["concat", "slice", "flat"]),
      ...all(whole, ["unshift", "splice", "sort", "toSorted", "reverse", "toReversed", "fill"]),
    },
  ],
  [
    Buffer.prototype,
    {
      ...all(whole, ["toString", "includes", "equals"]),
      copy: (_, __, bytes) => Number(bytes),
      indexOf: found,
      lastIndexOf: whole,
      utf8Write: argument,
    },
  ],
  [Buffer, { concat: made, from: made, byteLength: argument }],
  [TextDecoder.prototype, { decode: argument }],
  [TextEncoder.prototype, { encode: argument, encodeInto: argument }],
  [JSON, { parse: argument, stringify: made }],
  [RegExp.prototype, { exec: matched, test: matched }],
];

/** Replaces the native functions while it lives, and counts what they read. */
class WatchedNatives implements Disposable {
  reads = 0;
  readonly #originals: (() => void)[] = [];

  constructor() {
    for (const [owner, methods] of costs) {
      for (const [name, cost] of Object.entries(methods)) {
        this.#watch(owner as Record<string, Native>, name, cost);
      }
    }
  }

  [Symbol.dispose](): void {
    for (const restore of this.#originals) {
      restore();
    }
  }

  #watch(owner: Record<string, Native>, name: string, cost: Cost): void {
    const original = owner[name];
    if (original === undefined) {
      throw new Error(`there is no native function ${name}`);
    }
    const meter = this;
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    const watched = function (this: unknown, ...args: unknown[]): unknown {
      const startAt = this instanceof RegExp ? this.lastIndex : 0;
      const result = Reflect.apply(original, this, args);
      meter.reads += 1 + cost(this, args, result, startAt);
      return result;
    };
    Object.defineProperty(owner, name, { ...descriptor, value: watched });
    this.#originals.push(() => {
      if (descriptor === undefined) {
        delete owner[name];
      } else {
        Object.defineProperty(owner, name, descriptor);
      }
    });
  }
}

function all(cost: Cost, names: readonly string[]): Record<string, Cost> {
  return Object.fromEntries(names.map((name) => [name, cost]));
}

function lengthOf(value: unknown): number {
  return typeof value === "string" || (typeof value === "object" && value !== null && "length" in value)
    ? Number(value.length)
    : typeof value === "object" && value !== null && "byteLength" in value
      ? Number(value.byteLength)
      : 0;
}

function distance(subject: unknown, from: unknown, at: unknown): number {
  const start = Number(from ?? 0);
  return Math.max(0, (Number(at) === -1 ? lengthOf(subject) : Number(at)) - start);
}
