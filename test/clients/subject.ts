// The subject: a small program that makes one call with a client library and prints lines of JSON. README.md specifies both.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** The credentials of a request; an empty object means none. */
export interface SubjectCredentials {
  readonly api_key?: string;
  readonly client_id?: string;
  readonly secret?: string;
  readonly ticket?: string;
}

/** The line that a subject reads. */
export interface SubjectRequest {
  readonly url: string;
  readonly credentials: SubjectCredentials;
  readonly call: "follow" | "send" | "ask" | "callback" | "receipt";
  readonly timeout_ms?: number;
  readonly idle_timeout_ms?: number;
  readonly cancel_after?: number;
  readonly run_id?: string;
  readonly after?: number;
  readonly session_id?: string;
  readonly message?: string;
  readonly request_id?: string;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly now_ms?: number;
  readonly receipt?: string;
  readonly results?: readonly string[];
  readonly public_key?: string;
}

/** An error line. */
export interface ErrorLine {
  readonly code?: string;
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly message?: string;
  readonly violations?: readonly { readonly field?: string; readonly description?: string }[];
}

/** A line that a subject prints. */
export interface SubjectLine {
  readonly result?: { readonly sequence: number; readonly type: string };
  readonly end?: { readonly state?: string; readonly text?: string; readonly output?: string };
  readonly run?: { readonly run_id?: string };
  readonly valid?: boolean;
  readonly error?: ErrorLine;
}

/** Makes the call of a request. Prints lines, resolves when it is done, and rejects when it could not work at all. */
export type Subject = (
  request: SubjectRequest,
  print: (line: SubjectLine) => void,
  signal: AbortSignal,
) => Promise<void>;

const errorCharsMax = 2_000;

/** Returns a subject that is a program. The signal kills it. */
export function programSubject(command: string, args: readonly string[]): Subject {
  return async (request, print, signal) => {
    const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(command, args, {
      stdio: ["pipe", "pipe", "pipe"],
      signal,
      killSignal: "SIGKILL",
    });
    let complaints = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaints = `${complaints}${text}`.slice(-errorCharsMax);
    });
    // A program may end before it has read its request.
    child.stdin.on("error", () => {});
    child.stdin.end(`${JSON.stringify(request)}\n`);
    const ended = once(child, "close");
    // Awaited below, after the lines.
    ended.catch(() => {});
    let foreign: string | undefined;
    for await (const text of createInterface({ input: child.stdout })) {
      const line = readLine(text);
      if (line === undefined) {
        foreign ??= text;
      } else {
        print(line);
      }
    }
    const [exitCode] = await ended;
    if (exitCode !== 0) {
      throw new Error(`the subject exited with ${exitCode}: ${complaints.trim() || "it printed no error"}`);
    }
    if (foreign !== undefined) {
      throw new Error(`the subject printed a line that is not a JSON object: ${foreign.slice(0, errorCharsMax)}`);
    }
  };
}

function readLine(text: string): SubjectLine | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
