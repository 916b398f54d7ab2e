// Runs cases against a subject: several at a time, each with a service of its own.

import { setTimeout as sleep } from "node:timers/promises";
import { type Case, Findings, type TimedLine } from "./case.ts";
import { askCases } from "./cases/ask.ts";
import { callbackCases } from "./cases/callback.ts";
import { credentialCases } from "./cases/credentials.ts";
import { followCases } from "./cases/follow.ts";
import { receiptCases } from "./cases/receipt.ts";
import { sendCases } from "./cases/send.ts";
import { ScriptedService } from "./service/scripted-service.ts";
import type { Subject, SubjectLine } from "./subject.ts";

/** All cases, in the order of README.md. */
export const cases: readonly Case[] = [
  ...followCases,
  ...sendCases,
  ...credentialCases,
  ...askCases,
  ...callbackCases,
  ...receiptCases,
];

/** How a case ended. */
export interface Verdict {
  readonly name: string;
  readonly says: string;
  readonly durationMs: number;
  /** What was expected and what came; empty when the case passed. */
  readonly problems: readonly string[];
}

/** The usual time for a case: its waits are below five seconds, and a subject may take long to start on a busy machine. */
const limitUsualMs = 30_000;
/** How long the service may take to notice that a client has left. */
const noticeMaxMs = 1_000;

/** Returns the name of a case, such as `follow/gap`. */
export function nameOf({ group, name }: Pick<Case, "group" | "name">): string {
  return `${group}/${name}`;
}

/** How to run cases. */
export interface RunOptions {
  readonly atATime: number;
  /** The time for each case; unset means its own. */
  readonly limitMs?: number;
  readonly report?: (verdict: Verdict) => void;
}

/** Runs the cases, `atATime` of them together, and calls `report` as each ends. Returns the verdicts in the order of the cases. */
export async function runCases(
  chosen: readonly Case[],
  subject: Subject,
  { atATime, limitMs, report = () => {} }: RunOptions,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < chosen.length; index = next++) {
      const each = chosen[index];
      if (each !== undefined) {
        const verdict = await runCase(each, subject, limitMs ?? each.limitMs ?? limitUsualMs);
        verdicts[index] = verdict;
        report(verdict);
      }
    }
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return verdicts;
}

/** Runs one case. */
async function runCase(each: Case, subject: Subject, limitMs: number): Promise<Verdict> {
  const { request, script, check } = await each.prepare();
  const startMs = performance.now();
  const findings = new Findings();
  const lines: TimedLine[] = [];
  const service = new ScriptedService(script ?? {});
  const url = await service.open();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  const askedMs = performance.now();
  try {
    const print = (line: SubjectLine): void => {
      lines.push({ ...line, atMs: performance.now() });
    };
    await subject({ url, ...request }, print, limit.signal);
  } catch (error) {
    if (!limit.signal.aborted) {
      findings.problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  clearTimeout(timer);
  const doneMs = performance.now();
  if (limit.signal.aborted) {
    findings.problems.push(`the subject has not ended within ${limitMs} ms`);
  }
  while (service.calls.some(({ endMs }) => endMs === undefined) && performance.now() - doneMs < noticeMaxMs) {
    await sleep(20);
  }
  const { calls } = service;
  check({ lines, calls, askedMs, doneMs }, findings);
  await service.close();
  const { problems } = findings;
  return { name: nameOf(each), says: each.says, durationMs: performance.now() - startMs, problems };
}
