// Cases of `send`: a message starts one run, however often the call has to be repeated.

import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import type { Case, Findings, Seen, Trial } from "../case.ts";
import type { RecordedCall, SendAnswer } from "../service/scripted-service.ts";
import { lost, type Refusal, rateLimited, toError } from "../service/steps.ts";
import type { SubjectRequest } from "../subject.ts";

interface SendOptions {
  readonly answers: (runId: string) => readonly SendAnswer[];
  readonly request?: Partial<SubjectRequest>;
  readonly awayAtFirstMs?: number;
  readonly check?: (sends: readonly RecordedCall[], seen: Seen, findings: Findings) => void;
}

const sessionId = "conformance";
const message = "Count to three, please: 1 – 2 – 3";

function trialOf(runId: string, { answers, request, awayAtFirstMs }: SendOptions): Omit<Trial, "check"> {
  return {
    request: { credentials: {}, call: "send", session_id: sessionId, message, ...request },
    script: { sends: answers(runId), ...(awayAtFirstMs !== undefined && { awayAtFirstMs }) },
  };
}

/** A case in which the message is accepted in the end. */
function accepted(name: string, says: string, options: SendOptions): Case {
  const prepare = (): Trial => {
    const runId = randomUUID();
    return {
      ...trialOf(runId, options),
      check: (seen, findings) => {
        findings.equal("run", seen.lines.find(({ run }) => run !== undefined)?.run?.run_id, runId);
        findings.equal("error", errorOf(seen), undefined);
        const sends = sendsOf(seen);
        expectOneRequest(sends, findings);
        options.check?.(sends, seen, findings);
      },
    };
  };
  return { group: "send", name, says, prepare };
}

/** A case in which the call fails. */
function refused(name: string, says: string, refusal: Refusal, expected: Readonly<Record<string, unknown>>): Case {
  const prepare = (): Trial => ({
    ...trialOf("", { answers: () => [fail(refusal)] }),
    check: (seen, findings) => {
      const error = errorOf(seen) as Readonly<Record<string, unknown>> | undefined;
      for (const [name_, value] of Object.entries(expected)) {
        findings.equal(name_, error?.[name_], value);
      }
      findings.equal("attempts", sendsOf(seen).length, 1);
    },
  });
  return { group: "send", name, says, prepare };
}

export function sendsOf({ calls }: Pick<Seen, "calls">): readonly RecordedCall[] {
  return calls.filter(({ method }) => method === "SendMessage");
}

function errorOf({ lines }: Seen) {
  return lines.find(({ error }) => error !== undefined)?.error;
}

/** All attempts ask for the same: a service that has accepted one answers the others with its run. */
function expectOneRequest(sends: readonly RecordedCall[], findings: Findings): void {
  const requests = sends.map(({ sendMessage }) => sendMessage);
  findings.equal("sessions", [...new Set(requests.map((each) => each?.sessionId))], [sessionId]);
  findings.equal("messages", [...new Set(requests.map((each) => each?.message))], [message]);
  const ids = [...new Set(requests.map((each) => each?.requestId))];
  findings.equal("the number of different request ids", ids.length, 1);
  findings.that(
    ids.every((id) => id !== undefined && id !== ""),
    "a call has no request id",
  );
}

const accept =
  (runId: string): SendAnswer =>
  async () =>
    runId;

function fail(refusal: Refusal): SendAnswer {
  return async () => {
    throw toError(refusal);
  };
}

function expectAttempts(count: number): NonNullable<SendOptions["check"]> {
  return (sends, _, findings) => findings.equal("attempts", sends.length, count);
}

export const sendCases: readonly Case[] = [
  accepted("answered", "the message is accepted: the client made a request id by itself", {
    answers: (runId) => [accept(runId)],
    check: expectAttempts(1),
  }),
  accepted("request-id", "the caller gives a request id: the client sends it", {
    answers: (runId) => [lost((turn) => turn.cut("reset")), accept(runId)],
    request: { request_id: "order-17" },
    check: (sends, _, findings) => findings.equal("request id", sends[0]?.sendMessage?.requestId, "order-17"),
  }),
  accepted(
    "lost-answer",
    "the connection is cut before the answer: the client repeats the call with the same request id",
    {
      answers: (runId) => [lost((turn) => turn.cut("reset")), lost((turn) => turn.cut("end")), accept(runId)],
      check: (sends, _, findings) =>
        findings.that(sends.length >= 2, `expected a second attempt, came ${sends.length}`),
    },
  ),
  accepted("unavailable", "the service answers UNAVAILABLE at first", {
    answers: (runId) => [fail({ code: Code.Unavailable, reason: "DATABASE_UNAVAILABLE" }), accept(runId)],
    check: expectAttempts(2),
  }),
  accepted("refused-connections", "the service is away when the call begins", {
    answers: (runId) => [accept(runId)],
    awayAtFirstMs: 1_500,
  }),
  accepted("retry-info", "RESOURCE_EXHAUSTED comes with RetryInfo: the client waits as long", {
    answers: (runId) => [fail(rateLimited(1_500)), accept(runId)],
    check: (sends, _, findings) => {
      const [first, second] = sends;
      findings.between("the wait, in ms", (second?.atMs ?? 0) - (first?.atMs ?? 0), 1_480, 4_500);
    },
  }),
  refused(
    "refused-fields",
    "INVALID_ARGUMENT comes with the refused fields: the client reports them and does not repeat the call",
    {
      code: Code.InvalidArgument,
      reason: "INVALID_ARGUMENT",
      message: "invalid priority: must be at most 100",
      violations: [
        { field: "priority", description: "must be at most 100" },
        { field: "agent.name", description: "must not be empty" },
      ],
    },
    {
      code: "INVALID_ARGUMENT",
      reason: "INVALID_ARGUMENT",
      message: "invalid priority: must be at most 100",
      violations: [
        { field: "priority", description: "must be at most 100" },
        { field: "agent.name", description: "must not be empty" },
      ],
    },
  ),
  refused(
    "busy",
    "FAILED_PRECONDITION (SESSION_BUSY) is an answer: the client reports its reason and metadata",
    { code: Code.FailedPrecondition, reason: "SESSION_BUSY", metadata: { run_id: "r-1" } },
    { code: "FAILED_PRECONDITION", reason: "SESSION_BUSY", metadata: { run_id: "r-1" } },
  ),
  {
    group: "send",
    name: "deadline",
    says: "the service does not answer: the call ends at its deadline",
    prepare: () => ({
      ...trialOf("", { answers: () => [lost(async () => {})], request: { timeout_ms: 1_500 } }),
      check: (seen, findings) => {
        findings.equal("the code of the error", errorOf(seen)?.code, "DEADLINE_EXCEEDED");
        findings.between(
          "the time from the service's view, in ms",
          seen.doneMs - (sendsOf(seen)[0]?.atMs ?? 0),
          0,
          3_500,
        );
        findings.that(seen.doneMs - seen.askedMs >= 1_500, "the call ended before its deadline");
      },
    }),
  },
];
