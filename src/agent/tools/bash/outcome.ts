// Words the end of a command in the layout of the Agent Runner document.

import { constants } from "node:os";
import { contentBytesMax } from "../cap.ts";
import type { ToolOutcome } from "../tool.ts";
import type { Captured } from "./capture.ts";
import type { KillLimit } from "./limits.ts";

const { signals } = constants;

/** How the command's shell ended. */
export type Exit = { readonly status: number } | { readonly signal: number };

/** The output and the exit of a command. */
export interface CommandEnd {
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly exit: Exit;
  /** The limit that it was killed for; undefined when it was not killed. */
  readonly killed?: KillLimit | undefined;
  /** The exceeded limit in words, when `signal: killed` alone would not explain the end. */
  readonly limit?: string | undefined;
}

/** Why a command did not run. */
export interface NotRun {
  /**
   * `refused`: the text of the command. `workspace`: the work directory cannot be used. `no_jail`: this host has no jail.
   * `not_started`: the jail or its process could not be created. Only the words of `refused` never name paths of the host.
   */
  readonly kind: "refused" | "workspace" | "no_jail" | "not_started";
  readonly words: string;
}

/** Returns the end of a command as the outcome of the tool. */
export function endToOutcome(end: CommandEnd | NotRun): ToolOutcome {
  if ("words" in end) {
    return { error: end.kind === "not_started" ? `bash could not be started: ${end.words}` : end.words };
  }
  const { stdout, stderr, exit, limit } = end;
  const text = capOutput(layOut(withNotice(stdout, "stdout"), withNotice(stderr, "stderr")));
  if ("status" in exit && exit.status === 0) {
    return { content: text === "" ? "(no output)" : text };
  }
  const words = [
    ...(text === "" ? [] : [text]),
    ...(limit === undefined ? [] : [`... (killed: ${limit})`]),
    `Exit: ${describeExit(exit)}`,
  ];
  return { error: words.join("\n") };
}

/** Signal names of the C library. */
const signalWords: Readonly<Record<number, string>> = {
  [signals.SIGHUP]: "hangup",
  [signals.SIGQUIT]: "quit",
  [signals.SIGILL]: "illegal instruction",
  [signals.SIGABRT]: "aborted",
  [signals.SIGFPE]: "floating point exception",
  [signals.SIGKILL]: "killed",
  [signals.SIGSEGV]: "segmentation fault",
  [signals.SIGTERM]: "terminated",
};

function describeExit(exit: Exit): string {
  return "status" in exit ? `exit status ${exit.status}` : `signal: ${signalWords[exit.signal] ?? exit.signal}`;
}

function withNotice({ text, isCut }: Captured, name: string): string {
  return isCut ? `${text}\n... (${name} truncated at ${contentBytesMax} bytes)` : text;
}

function layOut(stdout: string, stderr: string): string {
  if (stderr === "") {
    return stdout;
  }
  return `${stdout}${stdout === "" ? "" : "\n"}STDERR:\n${stderr}`;
}

const outputNotice = "\n... (output truncated)";

/** Cuts the output so that its notice still fits, because tool results are capped once more. */
function capOutput(text: string): string {
  if (Buffer.byteLength(text) <= contentBytesMax) {
    return text;
  }
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(contentBytesMax - outputNotice.length));
  return text.slice(0, read) + outputNotice;
}
