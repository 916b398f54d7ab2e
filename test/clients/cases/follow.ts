// Cases of `follow`: a client hands out each result once and in order, through every fault of the connection.

import { Code } from "@connectrpc/connect";
import type { Case, Findings, Seen, Trial } from "../case.ts";
import {
  completed,
  delta,
  failed,
  type Log,
  makeLog,
  message,
  restarted,
  turnStarted,
  typeOf,
  usualLog,
} from "../service/log.ts";
import type { Attempt, RecordedCall, Script } from "../service/scripted-service.ts";
import {
  again,
  cut,
  cutInside,
  exactly,
  fail,
  freeze,
  goAway,
  keepAlive,
  rateLimited,
  resetStream,
  resume,
  sayGoodbye,
  silence,
  upTo,
} from "../service/steps.ts";
import type { SubjectRequest } from "../subject.ts";

/** A subject on a busy machine may be late by so much. */
const slackMs = 1_000;

interface FollowOptions {
  /** Makes the log; unset means the usual one. */
  readonly makeLog?: () => Log;
  readonly attempts: (log: Log) => readonly Attempt[];
  readonly request?: Partial<SubjectRequest>;
  readonly script?: Partial<Script>;
  /** Checks besides what every case checks. */
  readonly check?: (tails: readonly RecordedCall[], seen: Seen, findings: Findings) => void;
  readonly limitMs?: number;
}

/** A case in which the client shows the whole log in the end. */
function whole(name: string, says: string, options: FollowOptions): Case {
  const { limitMs } = options;
  const prepare = (): Trial => {
    const log = (options.makeLog ?? usualLog)();
    return {
      ...trialOf(log, options),
      check: (seen, findings) => {
        expectWhole(log, options.request?.after ?? 0, seen, findings);
        options.check?.(tailsOf(seen), seen, findings);
      },
    };
  };
  return { group: "follow", name, says, prepare, ...(limitMs !== undefined && { limitMs }) };
}

/** A case in which the call fails with an error. */
function broken(name: string, says: string, code: string, options: FollowOptions): Case {
  const prepare = (): Trial => {
    const log = (options.makeLog ?? usualLog)();
    return {
      ...trialOf(log, options),
      check: (seen, findings) => {
        findings.equal("the code of the error", errorOf(seen)?.code, code);
        findings.that(endOf(seen) === undefined, "the subject printed an end, although the call failed");
        expectPrefix(log, seen, findings);
        options.check?.(tailsOf(seen), seen, findings);
      },
    };
  };
  return { group: "follow", name, says, prepare };
}

function trialOf(log: Log, { attempts, request, script }: FollowOptions): Omit<Trial, "check"> {
  const lastSequences = { [log.runId]: log.results.length };
  return {
    request: { credentials: {}, call: "follow", run_id: log.runId, after: 0, ...request },
    script: { runs: { [log.runId]: attempts(log) }, lastSequences, ...script },
  };
}

function tailsOf({ calls }: Seen): readonly RecordedCall[] {
  return calls.filter(({ method }) => method === "TailRun");
}

function resultsOf({ lines }: Seen) {
  return lines.flatMap(({ result, atMs }) => (result === undefined ? [] : [{ ...result, atMs }]));
}

function errorOf({ lines }: Seen) {
  return lines.find(({ error }) => error !== undefined)?.error;
}

function endOf({ lines }: Seen) {
  return lines.find(({ end }) => end !== undefined)?.end;
}

function expectWhole({ results, end }: Log, after: number, seen: Seen, findings: Findings): void {
  const expected = results.slice(after).map((each) => ({ sequence: Number(each.sequence), type: typeOf(each) }));
  const came = resultsOf(seen).map(({ sequence, type }) => ({ sequence, type }));
  findings.equal(
    "sequences",
    came.map(({ sequence }) => sequence),
    expected.map(({ sequence }) => sequence),
  );
  findings.equal(
    "types",
    came.map(({ type }) => type),
    expected.map(({ type }) => type),
  );
  findings.equal("error", errorOf(seen), undefined);
  const { state, text, output } = endOf(seen) ?? {};
  findings.equal("state", state, end.state);
  // A reader that begins in the middle has only the text that it was sent.
  findings.equal("text", text, after === 0 ? end.text : textAfter(results, after));
  findings.equal("output", output, end.output);
}

function textAfter(results: Log["results"], after: number): string {
  return results
    .slice(after)
    .map(({ payload }) => (payload.case === "messageDelta" ? (payload.value.chunk?.content ?? "") : ""))
    .join("");
}

function expectPrefix({ results }: Log, seen: Seen, findings: Findings): void {
  const came = resultsOf(seen).map(({ sequence }) => sequence);
  findings.equal(
    "sequences",
    came,
    results.slice(0, came.length).map(({ sequence }) => Number(sequence)),
  );
}

function expectCursors(expected: readonly number[]): NonNullable<FollowOptions["check"]> {
  return (tails, _, findings) => findings.equal("the cursors (after)", cursorsOf(tails), expected);
}

function cursorsOf(tails: readonly RecordedCall[]): number[] {
  return tails.map(({ tailRun }) => Number(tailRun?.after));
}

/** The time from one attempt to the next, in milliseconds. */
function pauseBefore(attempt: number, tails: readonly RecordedCall[]): number | undefined {
  const [before, next] = [tails[attempt - 2], tails[attempt - 1]];
  return before === undefined || next === undefined ? undefined : next.atMs - (before.endMs ?? before.atMs);
}

const interruptions: readonly Case[] = (
  [
    ["cut-between-messages", "the connection ends between two messages", [cut("end")]],
    ["reset-between-messages", "the connection is reset between two messages", [cut("reset")]],
    ["cut-inside-message", "the connection ends inside a message", [cutInside("end")]],
    ["reset-inside-message", "the connection is reset inside a message", [cutInside("reset")]],
    ["stream-reset", "the stream alone is reset with INTERNAL_ERROR", [resetStream]],
    [
      "goaway",
      "the connection is announced to end (GOAWAY), and the stream with RESUME",
      [sayGoodbye(false), fail(resume)],
    ],
    [
      "goaway-cut",
      "the connection is announced to end (GOAWAY with an error) and is cut",
      [sayGoodbye(true), cut("end")],
    ],
    ["resume", "the service ends the stream with UNAVAILABLE (RESUME)", [fail(resume)]],
    ["unavailable", "the service ends the stream with UNAVAILABLE without details", [fail({ code: Code.Unavailable })]],
    ["internal", "the service ends the stream with INTERNAL", [fail({ code: Code.Internal, reason: "INTERNAL" })]],
    ["unknown-code", "the service ends the stream with UNKNOWN", [fail({ code: Code.Unknown })]],
    ["aborted", "the service ends the stream with ABORTED", [fail({ code: Code.Aborted, reason: "BUSY" })]],
    [
      "service-cancels",
      "a proxy ends the stream with CANCELLED, which the client has not asked for",
      [fail({ code: Code.Canceled })],
    ],
    [
      "proxy-deadline",
      "a proxy ends the stream with DEADLINE_EXCEEDED, which the client has not set",
      [fail({ code: Code.DeadlineExceeded })],
    ],
    ["early-end", "the stream ends with OK before the terminal result", []],
  ] as const
).map(([name, what, steps]) =>
  whole(name, `${what}: the client opens it again after its last result`, {
    attempts: (log) => [[upTo(log, 3), ...steps], [upTo(log, 5), ...steps], [upTo(log)]],
    check: (tails, _, findings) => {
      findings.that(tails.length >= 2, `expected several attempts, came ${tails.length}`);
      const cursors = cursorsOf(tails);
      findings.that(
        cursors.every((after, index) => after >= (cursors[index - 1] ?? 0)),
        `cursors went back: ${cursors}`,
      );
    },
  }),
);

/** The codes of the table in docs/resuming.md, with a reason each. */
const permanent = [
  ["NOT_FOUND", Code.NotFound, "RUN_NOT_FOUND"],
  ["PERMISSION_DENIED", Code.PermissionDenied, "ACCESS_DENIED"],
  ["UNAUTHENTICATED", Code.Unauthenticated, "TOKEN_INVALID"],
  ["INVALID_ARGUMENT", Code.InvalidArgument, "CURSOR_INVALID"],
  ["OUT_OF_RANGE", Code.OutOfRange, "OFFSET_BEYOND_END"],
  ["FAILED_PRECONDITION", Code.FailedPrecondition, "CONFIG_INVALID"],
  ["UNIMPLEMENTED", Code.Unimplemented, "TOOL_UNSUPPORTED"],
  ["DATA_LOSS", Code.DataLoss, "LOG_DAMAGED"],
] as const;

const refusals: readonly Case[] = permanent.map(([code, number, reason]) =>
  broken(
    `permanent-${code.toLowerCase().replaceAll("_", "-")}`,
    `the stream fails with ${code}: the client reports it at once, with its reason and metadata`,
    code,
    {
      attempts: (log) => [
        [upTo(log, 2), fail({ code: number, reason, message: "never again", metadata: { place: "here" } })],
        [upTo(log)],
      ],
      check: (tails, seen, findings) => {
        const { reason: came, metadata, message: text } = errorOf(seen) ?? {};
        findings.equal("reason", came, reason);
        findings.equal("metadata", metadata, { place: "here" });
        findings.that(text?.includes("never again") === true, `expected the service's message, came ${text}`);
        findings.equal("attempts", tails.length, 1);
        findings.equal("results before the error", resultsOf(seen).length, 2);
      },
    },
  ),
);

/** A log whose turn began again, so many times. */
function makeVoidLog(restarts: number): () => Log {
  return () => {
    const text = "A whole answer";
    const void_ = Array.from({ length: restarts }, (_, index) => [
      delta("Half "),
      delta("of an "),
      restarted(1, 2 + 3 * index),
    ]);
    const entries = [
      turnStarted(1),
      ...void_.flat(),
      delta("A whole "),
      delta("answer"),
      message(text),
      completed(text),
    ];
    return makeLog(entries, { text });
  };
}

const texts: readonly Case[] = [
  whole("takeover", "turn.restarted makes earlier text void: the client gives the text of the turn once", {
    makeLog: makeVoidLog(1),
    attempts: (log) => [[upTo(log)]],
  }),
  whole("takeover-after-cut", "turn.restarted comes after a break, and makes text of the first attempt void", {
    makeLog: makeVoidLog(1),
    attempts: (log) => [[upTo(log, 3), cut("reset")], [upTo(log)]],
  }),
  whole("takeover-twice", "a turn begins again two times: the client gives its last text", {
    makeLog: makeVoidLog(2),
    attempts: (log) => [[upTo(log, 3), cut("end")], [upTo(log, 6), fail(resume)], [upTo(log)]],
  }),
  whole("two-turns", "turn.restarted of a second turn leaves the text of the first one valid", {
    makeLog: () => {
      const [one, two] = ["First. ", "Second."];
      const begin = [turnStarted(1), delta(one), message(one), turnStarted(2), delta("Sec")];
      return makeLog([...begin, restarted(2, 5), delta(two), message(two), completed(two)], {
        text: `${one}${two}`,
        output: two,
      });
    },
    attempts: (log) => [[upTo(log)]],
  }),
  whole("replaced-text", "a chunk with replaces_text takes the place of the text since the last message", {
    makeLog: () => {
      const [one, two] = ["Kept. ", "New."];
      const begin = [turnStarted(1), delta(one), message(one), delta("Old "), delta("text")];
      return makeLog([...begin, delta("Ne", true), delta("w."), message(two), completed(two)], {
        text: `${one}${two}`,
        output: two,
      });
    },
    attempts: (log) => [[upTo(log)]],
  }),
  whole("output-without-message", "run.completed without a message has the output in `output`", {
    makeLog: () => {
      const value = { finishReason: "stop", output: "said in pieces" };
      return makeLog([delta("said "), delta("in pieces"), { case: "runCompleted", value }], { text: "said in pieces" });
    },
    attempts: (log) => [[upTo(log)]],
  }),
  whole("run-failed", "a run that failed is an end and not an error of the call", {
    makeLog: () => {
      return makeLog([turnStarted(1), delta("so far"), failed("runner.error", "so far")], {
        state: "failed",
        text: "so far",
      });
    },
    attempts: (log) => [[upTo(log)]],
  }),
  whole("run-cancelled", "a run that was cancelled ends with `cancelled`", {
    makeLog: () => {
      return makeLog([turnStarted(1), delta("so"), failed("cancelled", "so")], { state: "cancelled", text: "so" });
    },
    attempts: (log) => [[upTo(log)]],
  }),
  whole("unknown-types", "results of types that the client does not know are handed out as `unknown`, and it goes on", {
    makeLog: () => {
      const extension = { case: "extension", value: { type: "x.y", json: "{}" } } as const;
      const entries = [
        turnStarted(1),
        { unknownField: 900 },
        delta("Hello"),
        extension,
        { unknownField: 901 },
        message("Hello"),
      ];
      return makeLog([...entries, completed("Hello")], { text: "Hello" });
    },
    attempts: (log) => [[upTo(log, 2), cut("end")], [upTo(log)]],
  }),
  whole("large-results", "a message of 3.5 MB arrives whole", {
    makeLog: () => {
      const text = "0123456789".repeat(350_000);
      return makeLog([turnStarted(1), delta(text), message("short"), completed("short")], { text, output: "short" });
    },
    attempts: (log) => [[upTo(log)]],
  }),
];

const cursors: readonly Case[] = [
  whole("undisturbed", "nothing goes wrong: one attempt brings the whole log", {
    attempts: (log) => [[upTo(log)]],
    check: expectCursors([0]),
  }),
  whole("from-after", "the caller begins after the fourth result", {
    request: { after: 4 },
    attempts: (log) => [[upTo(log)]],
    check: expectCursors([4]),
  }),
  whole("from-after-cut", "the caller begins after the fourth result, and the connection is cut after the sixth", {
    request: { after: 4 },
    attempts: (log) => [[upTo(log, 6), cut("end")], [upTo(log)]],
    check: (tails, _, findings) =>
      findings.that(
        cursorsOf(tails).every((after) => after >= 4),
        "a cursor went back",
      ),
  }),
  whole(
    "terminal-then-cut",
    "the connection is cut after the terminal result, before the status: the client has everything",
    {
      attempts: (log) => [[upTo(log), cut("reset")], [upTo(log)]],
    },
  ),
  whole("terminal-then-silence", "the stream stays open after the terminal result: the client ends", {
    attempts: (log) => [[upTo(log), silence]],
    limitMs: 15_000,
  }),
  whole("duplicates", "the service sends results again, in one stream: the client drops them", {
    attempts: (log) => [
      [exactly(log, 1, 2, 3), exactly(log, 2, 3, 4), exactly(log, 4, 4, 5), exactly(log, 6, 7, 8, 9)],
    ],
  }),
  whole("duplicates-after-cut", "the service sends results again after a break: the client drops them", {
    attempts: (log) => [[upTo(log, 4), cut("end")], [again(log, 2)]],
  }),
  whole(
    "gap",
    "a result is missing: the client hands out nothing behind the gap, and opens the stream again before it",
    {
      attempts: (log) => [[exactly(log, 1, 2, 3), exactly(log, 5, 6), silence], [upTo(log)]],
      check: expectCursors([0, 3]),
    },
  ),
  whole("gap-inside-batch", "a result is missing inside a batch", {
    attempts: (log) => [[exactly(log, 1, 2, 4), silence], [upTo(log)]],
    check: expectCursors([0, 2]),
  }),
  whole("gap-at-start", "the first result is missing", {
    attempts: (log) => [[exactly(log, 2, 3), silence], [upTo(log)]],
    check: expectCursors([0, 0]),
  }),
  whole(
    "gap-before-terminal",
    "the terminal result comes although one before it is missing: the run has not ended for the client",
    {
      attempts: (log) => [[exactly(log, 1, 2, 3, 4, 5, 6, 7, 9)], [upTo(log)]],
      check: expectCursors([0, 7]),
    },
  ),
];

const waits: readonly Case[] = [
  whole("silence", "a stream is silent for longer than the idle timeout: the client leaves it and opens another", {
    request: { idle_timeout_ms: 700 },
    attempts: (log) => [
      [upTo(log, 3), silence],
      [exactly(log, 4, 5), keepAlive(200, 600), exactly(log, 6, 7, 8, 9)],
    ],
    check: (tails, _, findings) => {
      const [first, second] = tails;
      const waitedMs = second === undefined || first === undefined ? undefined : second.atMs - first.atMs;
      findings.between("the time until the second attempt, in ms", waitedMs, 600, 700 + 4 * slackMs);
      const endMs = first?.endMs ?? Number.POSITIVE_INFINITY;
      findings.that(endMs < (second?.endMs ?? 0), "the silent stream was left open beside the next one");
    },
  }),
  whole(
    "half-open",
    "the peer has vanished and no byte arrives on the connection any more: the client uses another one",
    {
      request: { idle_timeout_ms: 1_000 },
      attempts: (log) => [[upTo(log, 3), freeze], [upTo(log)]],
    },
  ),
  whole("keep-alive", "keep-alives are not silence: the client goes on with its stream", {
    request: { idle_timeout_ms: 1_500 },
    attempts: (log) => [[upTo(log, 3), keepAlive(300, 3_000), exactly(log, 4, 5, 6, 7, 8, 9)]],
    check: (tails, _, findings) => findings.equal("attempts", tails.length, 1),
  }),
  whole("refused-connections", "the service is away for two seconds and refuses connections", {
    attempts: (log) => [[upTo(log, 4), goAway(2_000)], [upTo(log)]],
  }),
  whole("away-at-first", "the service is away when the call begins", {
    attempts: (log) => [[upTo(log)]],
    script: { awayAtFirstMs: 1_500 },
  }),
  whole("proxy-503", "a proxy answers 502 and 503 with HTML while the service is away", {
    attempts: (log) => [[upTo(log)]],
    script: { proxyStatuses: [503, 502] },
  }),
  whole("retry-info", "RESOURCE_EXHAUSTED (RATE_LIMITED) comes with RetryInfo: the client waits as long", {
    attempts: (log) => [[upTo(log, 3), fail(rateLimited(1_500))], [upTo(log)]],
    check: (tails, _, findings) =>
      findings.between("the wait, in ms", pauseBefore(2, tails), 1_480, 1_500 + 3 * slackMs),
  }),
  whole("retry-info-unavailable", "UNAVAILABLE comes with RetryInfo: the client waits as long", {
    attempts: (log) => [[fail({ code: Code.Unavailable, reason: "OVERLOADED", retryAfterMs: 1_200 })], [upTo(log)]],
    check: (tails, _, findings) =>
      findings.between("the wait, in ms", pauseBefore(2, tails), 1_180, 1_200 + 3 * slackMs),
  }),
  whole("backs-off", "attempts bring nothing: the client waits longer after each, from 0.2 s on", {
    attempts: (log) => [...Array.from({ length: 4 }, () => [fail({ code: Code.Unavailable })]), [upTo(log)]],
    check: (tails, _, findings) => {
      const [first, last] = [tails[0], tails[4]];
      findings.equal("attempts", tails.length, 5);
      // 0.2 + 0.4 + 0.8 + 1.6 s, with as much chance as a client may add.
      findings.between("the time of four waits, in ms", (last?.atMs ?? 0) - (first?.atMs ?? 0), 1_200, 12_000);
    },
  }),
];

function expectPrompt(limitMs: number, sinceMs: number | undefined, seen: Seen, findings: Findings): void {
  const error = seen.lines.find((line) => line.error !== undefined);
  findings.between("the time until the error, in ms", sinceMs && error && error.atMs - sinceMs, 0, limitMs);
  findings.between("the time until the subject ended, in ms", sinceMs && seen.doneMs - sinceMs, 0, limitMs + slackMs);
}

const expectDeadline = (timeoutMs: number, leastMs: number): NonNullable<FollowOptions["check"]> => {
  return (tails, seen, findings) => {
    const [first] = tails;
    expectPrompt(timeoutMs + slackMs, first?.atMs, seen, findings);
    findings.that(seen.doneMs - seen.askedMs >= leastMs, `the call ended after less than ${leastMs} ms`);
    expectNoStreams(seen, findings);
  };
};

const expectCancelled = (count: number): NonNullable<FollowOptions["check"]> => {
  return (_, seen, findings) => {
    const last = resultsOf(seen)[count - 1];
    findings.that(last !== undefined, `expected ${count} results before the cancellation`);
    expectPrompt(slackMs, last?.atMs, seen, findings);
    expectNoStreams(seen, findings);
  };
};

function expectNoStreams({ calls }: Seen, findings: Findings): void {
  const open = calls.filter(({ endMs }) => endMs === undefined);
  findings.equal("streams that the service still has", open.length, 0);
}

const limits: readonly Case[] = [
  broken("deadline", "the deadline passes while the stream is open", "DEADLINE_EXCEEDED", {
    request: { timeout_ms: 1_500 },
    attempts: (log) => [[upTo(log, 3), keepAlive(300)]],
    check: expectDeadline(1_500, 1_500),
  }),
  broken(
    "deadline-between-attempts",
    "the deadline passes while the client waits for its next attempt",
    "DEADLINE_EXCEEDED",
    {
      request: { timeout_ms: 1_500 },
      attempts: (log) => [[upTo(log, 3), fail(rateLimited(20_000))], [upTo(log)]],
      check: expectDeadline(1_500, 0),
    },
  ),
  broken("deadline-over-attempts", "the deadline is that of the whole call, over all attempts", "DEADLINE_EXCEEDED", {
    request: { timeout_ms: 2_000 },
    attempts: (log) => [
      [upTo(log, 1), keepAlive(200, 600), fail(resume)],
      [keepAlive(200, 600), fail(resume)],
    ],
    check: expectDeadline(2_000, 2_000),
  }),
  broken("deadline-away", "the deadline passes while the service refuses connections", "DEADLINE_EXCEEDED", {
    request: { timeout_ms: 2_000 },
    attempts: (log) => [[upTo(log, 3), goAway(60_000)]],
    check: expectDeadline(2_000, 0),
  }),
  broken("cancel", "the caller cancels while the stream is open", "CANCELLED", {
    request: { cancel_after: 3 },
    attempts: (log) => [[upTo(log, 3), keepAlive(300)]],
    check: expectCancelled(3),
  }),
  broken("cancel-between-attempts", "the caller cancels while the client waits for its next attempt", "CANCELLED", {
    request: { cancel_after: 3 },
    attempts: (log) => [[upTo(log, 3), fail(rateLimited(20_000))], [upTo(log)]],
    check: expectCancelled(3),
  }),
];

export const followCases: readonly Case[] = [...cursors, ...interruptions, ...texts, ...waits, ...refusals, ...limits];
