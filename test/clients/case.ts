// A case of the kit: what the subject is asked, what the service does meanwhile, and what both have to show afterwards.

import { isDeepStrictEqual } from "node:util";
import type { RecordedCall, Script } from "./service/scripted-service.ts";
import type { SubjectLine, SubjectRequest } from "./subject.ts";

/** A line of the subject, and when it came. */
export interface TimedLine extends SubjectLine {
  readonly atMs: number;
}

/** What a case has seen. Times are those of `performance.now()`. */
export interface Seen {
  readonly lines: readonly TimedLine[];
  readonly calls: readonly RecordedCall[];
  /** When the subject got its request, so before its clock of the deadline began. */
  readonly askedMs: number;
  /** When the subject was done. */
  readonly doneMs: number;
}

/** One try of a case, with ids of its own. */
export interface Trial {
  readonly request: Omit<SubjectRequest, "url">;
  readonly script?: Script;
  /** Notes each difference from what the case expects. */
  readonly check: (seen: Seen, findings: Findings) => void;
}

export const groups = ["follow", "send", "credentials", "ask", "callback", "receipt"] as const;
/** The groups of README.md. */
export type Group = (typeof groups)[number];

/** A case. */
export interface Case {
  readonly group: Group;
  readonly name: string;
  /** What happens, and what the client has to do, in one sentence. */
  readonly says: string;
  /** After this time the subject is stopped, and the case has failed; unset means the usual time. */
  readonly limitMs?: number;
  readonly prepare: () => Trial | Promise<Trial>;
}

/** Collects problems: each says what was expected and what came. */
export class Findings {
  readonly problems: string[] = [];

  /** Compares two values. */
  equal(what: string, came: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(came, expected)) {
      this.problems.push(`${what}: expected ${show(expected)}, came ${show(came)}`);
    }
  }

  /** Compares a number with limits, both inclusive. */
  between(what: string, came: number | undefined, least: number, most: number): void {
    if (came === undefined || came < least || came > most) {
      const value = came === undefined ? "nothing" : String(Math.round(came));
      this.problems.push(`${what}: expected ${least} to ${most}, came ${value}`);
    }
  }

  /** States that a condition holds. */
  that(isTrue: boolean, problem: string): void {
    if (!isTrue) {
      this.problems.push(problem);
    }
  }
}

const shownCharsMax = 400;

function show(value: unknown): string {
  const text = JSON.stringify(value, (_, each) => (typeof each === "bigint" ? Number(each) : each)) ?? "nothing";
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}… (${text.length} characters)` : text;
}
