// How the end of a command reads: words and layout of the Agent Runner document.

import { constants } from "node:os";
import { contentBytesMax } from "../cap.ts";
import type { ToolOutcome } from "../tool.ts";
import type { Captured } from "./capture.ts";
import type { KillLimit } from "./limits.ts";

const { signals } = constants;

/** How the command's shell ended. */
export type Exit = { readonly status: number } | { readonly signal: number };

export interface CommandEnd {
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly exit: Exit;
  /** What it was killed for, if it was. */
  readonly killed?: KillLimit | undefined;
  /** The limit that it was killed for, where the words `signal: killed` would leave everybody guessing. */
  readonly limit?: string | undefined;
}

/** Why there was no command. */
export interface NotRun {
  /**
   * `refused` for what the command says; the work directory is not to be worked in; there is no jail here; what the command
   * should have run in could not be made. Only the words of the first name no places of the host.
   */
  readonly kind: "refused" | "workspace" | "no_jail" | "not_started";
  readonly words: string;
}

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

/** As the C library calls them. */
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

/** Cut here, where the notice can be part of what fits: results of tools are capped once more. */
function capOutput(text: string): string {
  if (Buffer.byteLength(text) <= contentBytesMax) {
    return text;
  }
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(contentBytesMax - outputNotice.length));
  return text.slice(0, read) + outputNotice;
}
