// Subjects that are wrong on purpose, each in one way, with the cases that have to notice it.

import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import type { TailRunResponse } from "#gen/runnel/v1/run_service_pb.js";
import type { SendMessageRequest } from "#gen/runnel/v1/session_service_pb.js";
import { Runnel } from "../../../clients/typescript/src/client.ts";
import { openNodeConnections } from "../../../clients/typescript/src/node-connections.ts";
import type { Subject, SubjectLine, SubjectRequest } from "../subject.ts";
import { answer } from "./answer.ts";

/** A wrong subject. */
export interface WrongSubject {
  readonly name: string;
  readonly subject: Subject;
  /** The cases, by name or by the beginning of it, that must fail. */
  readonly fails: readonly string[];
}

interface Wrong {
  /** Changes what it is asked. */
  readonly hears?: (request: SubjectRequest) => SubjectRequest;
  /** Changes what it prints. Called once for each request. */
  readonly says?: () => (line: SubjectLine) => readonly SubjectLine[];
  /** Changes each attempt of a call. */
  readonly attempts?: () => Interceptor;
}

function wrong(
  name: string,
  { hears = (same) => same, says, attempts }: Wrong,
  ...fails: readonly string[]
): WrongSubject {
  const subject: Subject = async (request, print, signal) => {
    const change = says?.() ?? ((line) => [line]);
    const printChanged = (line: SubjectLine): void => {
      for (const each of change(line)) {
        print(each);
      }
    };
    const added = attempts === undefined ? [] : [attempts()];
    await answer(hears(request), printChanged, signal, (url, credentials) => {
      return new Runnel(url, credentials, (to, interceptors) => openNodeConnections(to, [...interceptors, ...added]));
    });
  };
  return { name, subject, fails };
}

/** Changes the errors of all attempts. */
function withErrors(change: (error: ConnectError) => ConnectError): () => Interceptor {
  return () => (next) => async (request) => {
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: mapErrors(response.message, change) } : response;
    } catch (error) {
      throw change(ConnectError.from(error));
    }
  };
}

async function* mapErrors<T>(
  items: AsyncIterable<T>,
  change: (error: ConnectError) => ConnectError,
): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw change(ConnectError.from(error));
  }
}

/** Changes the results of all streams. */
function withResults(change: (results: readonly RunResult[]) => RunResult[]): () => Interceptor {
  return () => (next) => async (request) => {
    const response = await next(request);
    return response.stream ? { ...response, message: mapResults(response.message, change) } : response;
  };
}

async function* mapResults<T>(items: AsyncIterable<T>, change: (results: readonly RunResult[]) => RunResult[]) {
  for await (const item of items) {
    const { results } = item as TailRunResponse;
    yield results === undefined ? item : { ...item, results: change(results) };
  }
}

/** Changes the messages that are sent. */
function withMessages(change: (request: SendMessageRequest) => void): () => Interceptor {
  return () => (next) => async (request) => {
    if (!request.stream && request.method.name === "SendMessage") {
      const message = structuredClone(request.message) as SendMessageRequest;
      change(message);
      return await next({ ...request, message });
    }
    return await next(request);
  };
}

function voidEach(change: (result: RunResult) => void): () => Interceptor {
  return withResults((results) => {
    const copies = structuredClone([...results]);
    copies.forEach(change);
    return copies;
  });
}

/** Results of its own invention take the place of missing ones. */
function fillGaps(results: readonly RunResult[], last: bigint): RunResult[] {
  const filled: RunResult[] = [];
  for (const result of results) {
    for (let sequence = (filled.at(-1)?.sequence ?? last) + 1n; sequence < result.sequence; sequence += 1n) {
      filled.push(create(RunResultSchema, { runId: result.runId, sequence }));
    }
    filled.push(result);
  }
  return filled;
}

const interrupted = [
  "cut",
  "reset",
  "stream-reset",
  "goaway",
  "resume",
  "unavailable",
  "internal",
  "unknown-code",
  "aborted",
];

export const wrongSubjects: readonly WrongSubject[] = [
  wrong(
    "repeats each result",
    { says: () => (line) => (line.result === undefined ? [line] : [line, line]) },
    "follow/",
  ),
  wrong(
    "skips each third result",
    {
      says: () => {
        let count = 0;
        return (line) => {
          count += line.result === undefined ? 0 : 1;
          return line.result !== undefined && count % 3 === 0 ? [] : [line];
        };
      },
    },
    "follow/undisturbed",
    "follow/from-after",
    "follow/terminal-then-cut",
    "follow/terminal-then-silence",
    "follow/large-results",
  ),
  wrong("begins at the start", { hears: (request) => ({ ...request, after: 0 }) }, "follow/from-after"),
  wrong(
    "gives up at the first failure",
    { attempts: withErrors(({ rawMessage }) => new ConnectError(rawMessage, Code.DataLoss)) },
    ...interrupted.map((name) => `follow/${name}`),
    "follow/service-cancels",
    "follow/proxy-deadline",
    "follow/refused-connections",
    "follow/away-at-first",
    "follow/proxy-503",
    "follow/backs-off",
    "send/lost-answer",
    "send/unavailable",
    "send/request-id",
    "send/refused-connections",
    "credentials/key",
    "credentials/none-follow",
    "credentials/ticket-follow",
    "ask/disturbed",
  ),
  wrong(
    "repeats what was refused",
    { attempts: withErrors(({ rawMessage }) => new ConnectError(rawMessage, Code.Unavailable)) },
    "follow/permanent",
    "send/refused-fields",
    "send/busy",
  ),
  wrong(
    "loses the details of errors",
    { attempts: withErrors(({ rawMessage, code }) => new ConnectError(rawMessage, code)) },
    "follow/permanent",
    "follow/retry-info",
    "send/retry-info",
    "send/refused-fields",
    "send/busy",
  ),
  wrong(
    "calls again at once",
    {
      attempts: withErrors(
        ({ rawMessage, code }) =>
          new ConnectError(rawMessage, code, undefined, [
            { desc: RetryInfoSchema, value: { retryDelay: durationFromMs(1) } },
          ]),
      ),
    },
    "follow/backs-off",
    "follow/retry-info",
    "send/retry-info",
  ),
  wrong(
    "has no deadline",
    { hears: ({ timeout_ms: _, ...request }) => request },
    "follow/deadline",
    "follow/deadline-between",
    "follow/deadline-over",
    "follow/deadline-away",
    "send/deadline",
  ),
  wrong("cannot be cancelled", { hears: ({ cancel_after: _, ...request }) => request }, "follow/cancel"),
  wrong(
    "waits for silent streams",
    { hears: ({ idle_timeout_ms: _, ...request }) => request },
    "follow/silence",
    "follow/half-open",
  ),
  wrong(
    "takes keep-alives for silence",
    { hears: (request) => ({ ...request, idle_timeout_ms: 100 }) },
    "follow/keep-alive",
  ),
  wrong(
    "leaves streams open",
    { attempts: () => (next) => (request) => next({ ...request, signal: new AbortController().signal }) },
    "follow/silence",
  ),
  wrong(
    "does not notice gaps",
    {
      attempts: () => {
        let last = 0n;
        return withResults((results) => {
          const filled = fillGaps(results, last);
          last = filled.at(-1)?.sequence ?? last;
          return filled;
        })();
      },
    },
    "follow/gap",
  ),
  wrong(
    "stops at unknown types",
    {
      says: () => (line) => {
        if (line.result?.type === "unknown") {
          throw new TypeError("what is this");
        }
        return [line];
      },
    },
    "follow/unknown-types",
  ),
  wrong(
    "keeps void text",
    {
      attempts: voidEach(({ payload }) => {
        if (payload.case === "turnRestarted") {
          payload.value.fromSequence = 1_000_000n;
        }
      }),
    },
    "follow/takeover",
    "follow/two-turns",
  ),
  wrong(
    "drops all text when a turn begins again",
    {
      attempts: voidEach(({ payload }) => {
        if (payload.case === "turnRestarted") {
          payload.value.fromSequence = 1n;
        }
      }),
    },
    "follow/two-turns",
  ),
  wrong(
    "keeps replaced text",
    {
      attempts: voidEach(({ payload }) => {
        if (payload.case === "messageDelta" && payload.value.chunk !== undefined) {
          payload.value.chunk.replacesText = false;
        }
      }),
    },
    "follow/replaced-text",
  ),
  wrong(
    "says that each run completed without output",
    {
      says: () => (line) => [line.end === undefined ? line : { end: { ...line.end, state: "completed", output: "" } }],
    },
    "follow/run-failed",
    "follow/run-cancelled",
    "follow/output-without-message",
    "ask/",
  ),
  wrong(
    "has no request ids",
    {
      attempts: withMessages((request) => {
        request.requestId = "";
      }),
    },
    "send/answered",
    "send/request-id",
    "send/lost-answer",
    "send/refused-connections",
    "ask/",
  ),
  wrong(
    "has a new request id for each attempt",
    {
      attempts: withMessages((request) => {
        request.requestId = crypto.randomUUID();
      }),
    },
    "send/request-id",
    "send/lost-answer",
    "send/unavailable",
    "send/retry-info",
    "ask/disturbed",
  ),
  wrong(
    "sends other credentials",
    {
      hears: ({ credentials, ...request }) => ({
        ...request,
        credentials: Object.keys(credentials).length === 0 ? { api_key: "rk_of_somebody" } : {},
      }),
    },
    "credentials/",
  ),
  wrong(
    "signs with another secret",
    { hears: (request) => ({ ...request, credentials: { client_id: "billing", secret: "not the secret" } }) },
    "credentials/signature",
  ),
  wrong(
    "uses a signature again",
    {
      attempts: () => {
        const first = new Map<string, string>();
        return (next) => (request) => {
          for (const name of ["x-timestamp", "x-nonce", "x-signature"]) {
            const value = first.get(name) ?? request.header.get(name) ?? "";
            first.set(name, value);
            request.header.set(name, value);
          }
          return next(request);
        };
      },
    },
    "credentials/signature",
  ),
  wrong(
    "offers no functions",
    {
      attempts: withMessages((request) => {
        delete request.agent;
      }),
    },
    "ask/",
  ),
  wrong(
    "adds wrongly",
    {
      attempts: withMessages(({ messages }) => {
        for (const message of messages) {
          message.content = { case: "text", value: "0" };
        }
      }),
    },
    "ask/one-call",
    "ask/two-calls",
    "ask/two-rounds",
    "ask/disturbed",
  ),
  {
    name: "believes everything",
    subject: async (_, print) => print({ valid: true }),
    fails: [
      "callback/changed",
      "callback/other-secret",
      "callback/old",
      "callback/early",
      "callback/malformed",
      "callback/without",
      "receipt/changed",
      "receipt/missing",
      "receipt/empty-log",
      "receipt/reordered",
      "receipt/repeated",
      "receipt/added",
      "receipt/moved",
      "receipt/o",
      "receipt/without",
      "receipt/not",
    ],
  },
  {
    name: "believes nothing",
    subject: async (_, print) => print({ error: { code: "INVALID_ARGUMENT", reason: "NO", message: "no" } }),
    fails: ["callback/valid", "callback/header-case", "callback/late", "receipt/valid", "receipt/unknown-types"],
  },
  {
    name: "prints nothing",
    subject: async () => {},
    fails: ["follow/", "send/", "credentials/", "ask/", "callback/", "receipt/"],
  },
];
