// Calls of MCP servers that wait for the caller's approval. A response ends with its requests; the answers to them begin the next
// response, which is the rest of the same run.

import type { Calls } from "../in-process/calls.ts";
import { answerInterrupts, type ResumeEntry, resultsBefore } from "../in-process/interrupts.ts";
import { RunRefused } from "../in-process/run-refused.ts";
import type { Origin } from "./echo.ts";
import { ApiError, invalid, notFound } from "./errors.ts";
import type { Fields } from "./fields.ts";
import { dashed } from "./ids.ts";
import { itemsOfInput } from "./input.ts";
import { originOfRun, readResults } from "./stored.ts";

/** Returns the answers that end an input. Earlier ones belong to the conversation. */
export function readAnswers(request: Fields): readonly ResumeEntry[] {
  const items = itemsOfInput(request);
  const last = items.findLastIndex((item) => item.find("type") !== "mcp_approval_response");
  return items.slice(last + 1).map((item) => ({
    interruptId: dashed(item.requireText("approval_request_id").replace(/^mcpr_/, "")),
    isApproved: requireDecision(item),
    isCancelled: false,
    comment: item.findText("reason") ?? "",
  }));
}

function requireDecision(item: Fields): boolean {
  const isApproved = item.findFlag("approve");
  if (isApproved === undefined) {
    throw invalid(item.at("approve"), "must be true or false");
  }
  return isApproved;
}

/** Decides the approvals. Returns the response that begins with them. */
export async function continueRun(calls: Calls, answers: readonly ResumeEntry[]): Promise<Origin> {
  const runId = await answerInterrupts(calls, undefined, answers).catch((error: unknown) => {
    throw error instanceof RunRefused ? refuse(error.code) : error;
  });
  const before = resultsBefore(await readResults(calls, runId), answers);
  const origin = await originOfRun(calls, runId, Number(before.at(-1)?.sequence ?? 0));
  if (origin === undefined) {
    throw notFound("Approval request", answers[0]?.interruptId ?? "");
  }
  return origin;
}

function refuse(code: string): ApiError {
  const message = problems[code] ?? "the approval cannot be given";
  return new ApiError(400, { message, param: "input", code });
}

const problems: Readonly<Record<string, string>> = {
  interrupt_unknown:
    "There is no approval request with this approval_request_id, or the requests are of different responses.",
  interrupt_pending: "Answer every mcp_approval_request of the response.",
  interrupt_decided: "The approval request was already answered otherwise.",
  interrupt_expired: "The approval request has expired.",
};
