// Cases of `ask`: the model calls a function of the caller, which the client runs. Its result goes out as the next message.

import { randomUUID } from "node:crypto";
import type { Case, Findings, Seen, Trial } from "../case.ts";
import { completed, delta, type Log, makeLog, message, turnStarted } from "../service/log.ts";
import type { SendAnswer } from "../service/scripted-service.ts";
import { cut, lost, upTo } from "../service/steps.ts";
import { sendsOf } from "./send.ts";

interface Addition {
  readonly a: number;
  readonly b: number;
}

/** A run that ends with calls of `add`. */
function callingLog(additions: readonly Addition[]): Log & { readonly callIds: readonly string[] } {
  const pendingToolCalls = additions.map((addition) => ({
    id: `call_${randomUUID()}`,
    name: "add",
    arguments: JSON.stringify(addition),
  }));
  const end = { case: "runCompleted", value: { finishReason: "tool-calls", turns: 1, pendingToolCalls } } as const;
  return { ...makeLog([turnStarted(1), end], { text: "" }), callIds: pendingToolCalls.map(({ id }) => id) };
}

function answerLog(): Log {
  const text = "That makes it.";
  return makeLog([turnStarted(1), delta("That "), delta("makes it."), message(text), completed(text)], { text });
}

interface AskOptions {
  /** The additions of each run before the last one. */
  readonly rounds: readonly (readonly Addition[])[];
  /** True when streams are cut and answers are lost. */
  readonly isDisturbed?: boolean;
}

function ask(name: string, says: string, { rounds, isDisturbed = false }: AskOptions): Case {
  const prepare = (): Trial => {
    const calling = rounds.map(callingLog);
    const logs = [...calling, answerLog()];
    const accepts = logs.map(
      ({ runId }): SendAnswer =>
        async () =>
          runId,
    );
    const loses: SendAnswer = lost((turn) => turn.cut("reset"));
    const attempts = (log: Log) => (isDisturbed ? [[upTo(log, 1), cut("end")], [upTo(log)]] : [[upTo(log)]]);
    return {
      request: { credentials: {}, call: "ask", session_id: "conformance", message: "Add the numbers." },
      script: {
        runs: Object.fromEntries(logs.map((log) => [log.runId, attempts(log)])),
        sends: isDisturbed ? accepts.flatMap((each) => [loses, each]) : accepts,
      },
      check: (seen, findings) => {
        const { state, text, output } = seen.lines.find(({ end }) => end !== undefined)?.end ?? {};
        findings.equal("state", state, "completed");
        findings.equal("text", text, "That makes it.");
        findings.equal("output", output, "That makes it.");
        expectSends(
          rounds,
          calling.map(({ callIds }) => callIds),
          seen,
          findings,
        );
      },
    };
  };
  return { group: "ask", name, says, prepare };
}

function expectSends(
  rounds: AskOptions["rounds"],
  callIds: readonly (readonly string[])[],
  seen: Seen,
  findings: Findings,
): void {
  const requests = sendsOf(seen).flatMap(({ sendMessage }) => (sendMessage === undefined ? [] : [sendMessage]));
  const byId = Map.groupBy(requests, ({ requestId }) => requestId);
  findings.that(!byId.has(""), "a call has no request id");
  // A repeated call has the request id of the first.
  const [question, ...answers] = [...byId.values()].map(([first]) => first);
  findings.equal("the number of different messages", byId.size, rounds.length + 1);
  findings.equal("the question", question?.message, "Add the numbers.");
  for (const request of [question, ...answers]) {
    const names = request?.agent?.tools?.functions.map(({ name }) => name);
    findings.equal("the functions of a message", names, ["add"]);
  }
  for (const [index, round] of rounds.entries()) {
    const came = answers[index]?.messages.map(({ role, toolCallId, content, isError }) => {
      const text = content.case === "text" ? content.value.trim() : "";
      return { role, toolCallId, text, isError: isError ?? false };
    });
    const expected = round.map(({ a, b }, place) => {
      return { role: "tool", toolCallId: callIds[index]?.[place], text: String(a + b), isError: false };
    });
    findings.equal(`the results of run ${index + 1}`, came, expected);
  }
}

export const askCases: readonly Case[] = [
  ask("without-calls", "the first run has no pending calls: the client ends with it", { rounds: [] }),
  ask("one-call", "a run ends with one call: the client runs the function and sends its result", {
    rounds: [[{ a: 2, b: 40 }]],
  }),
  ask("two-calls", "a run ends with two calls: the client answers both in one message", {
    rounds: [
      [
        { a: 1, b: 2 },
        { a: 30, b: 4 },
      ],
    ],
  }),
  ask("two-rounds", "the run after the first results has a call too", {
    rounds: [[{ a: 1, b: 2 }], [{ a: 3, b: 4 }]],
  }),
  ask("disturbed", "streams are cut and answers are lost: each message counts once", {
    rounds: [[{ a: 5, b: 6 }]],
    isDisturbed: true,
  }),
];
