// A program that speaks MCP over its standard input and output, as a transport: a message is a line of JSON.

import type { ChildProcess } from "node:child_process";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { type Clock, over } from "../../../platform/base/clock.ts";
import type { ProgramAddress } from "../../../platform/config/mcp-servers.ts";
import type { Commands } from "../bash/commands.ts";
import type { CommandEnd, NotRun } from "../bash/outcome.ts";
import type { ToolContext } from "../tool.ts";
import type { BreakableTransport } from "./connection.ts";
import { errorCharsMax } from "./limits.ts";

/** What starts a program. */
export interface ProgramOptions {
  readonly commands: Pick<Commands, "serve">;
  readonly clock: Clock;
  /** Where it works. Its signal does not end the program. */
  readonly context: Omit<ToolContext, "signal">;
}

/** A started program. */
export interface Program extends BreakableTransport {
  /** Closes its input, and kills it when it has not ended soon. Resolves at its end. */
  stop(): Promise<void>;
}

/** The time between the end of its input and the kill. */
const stopGraceMs = 2_000;

/** Starts a program. The transport breaks when the program ends. */
export async function startProgram(address: ProgramAddress, options: ProgramOptions): Promise<Program> {
  const { commands, clock, context } = options;
  const broken = new AbortController();
  const kill = new AbortController();
  const launched = Promise.withResolvers<ChildProcess>();
  const { environment, folders } = address;
  const request = {
    ...{ command: commandOf(address, context.workDir), environment, folders },
    onLaunched: launched.resolve,
  };
  const ended = commands
    .serve(request, { ...context, signal: kill.signal })
    .then(describeEnd, (error: unknown) => `the program could not be started: ${String(error)}`)
    .then((words) => {
      broken.abort(new Error(words));
      launched.reject(new Error(words));
    });
  const child = await launched.promise;
  return {
    transport: createTransport(child, broken),
    broken: broken.signal,
    stop: async () => {
      const done = new AbortController();
      const wait = clock.sleep(stopGraceMs, done.signal).then(() => kill.abort(new Error("the program was stopped")));
      child.stdin?.end();
      await ended;
      done.abort(over);
      await wait;
    },
  };
}

/** Returns the command line. `{work_dir}` is the work directory of the session. */
function commandOf({ command, args }: ProgramAddress, workDir: string): string {
  const words = [command, ...args].map((word) => word.replaceAll("{work_dir}", workDir));
  return `exec ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")}`;
}

function describeEnd(end: CommandEnd | NotRun): string {
  if ("words" in end) {
    return `the program could not be started: ${end.words}`;
  }
  const { exit, limit, stderr } = end;
  const how = limit ?? ("status" in exit ? `status ${exit.status}` : `signal ${exit.signal}`);
  const [last = ""] = stderr.text.trim().split("\n").slice(-1);
  return `the program of the server ended (${how})${last === "" ? "" : `: ${last.slice(0, errorCharsMax)}`}`;
}

/** With `pid` and `stderr` the official client knows a program: one that does not know its first question gets the older one. */
function createTransport(child: ChildProcess, broken: AbortController): Transport & { pid: unknown; stderr: null } {
  const buffer = new ReadBuffer();
  const transport: Transport & { pid: unknown; stderr: null } = {
    pid: child.pid,
    stderr: null,
    start: async () => {
      child.stdout?.on("data", read);
      child.stdin?.on("error", () => {});
      broken.signal.addEventListener("abort", () => transport.onclose?.(), { once: true });
    },
    send: (message: JSONRPCMessage) =>
      new Promise<void>((resolve) => {
        // A write to a program that has ended fails, and the end itself is reported.
        child.stdin?.write(serializeMessage(message), () => resolve());
      }),
    close: async () => {
      child.stdout?.off("data", read);
      transport.onclose?.();
    },
  };
  function read(piece: Buffer): void {
    try {
      buffer.append(piece);
    } catch {
      broken.abort(new Error("the program wrote a message that is too long"));
      return;
    }
    while (readOne(buffer, transport)) {
      // Reads all messages of the piece.
    }
  }
  return transport;
}

/** Hands on one message. Returns false without one. A line that is no message is left out: some programs print others. */
function readOne(buffer: ReadBuffer, transport: Transport): boolean {
  try {
    const message = buffer.readMessage();
    if (message !== null) {
      transport.onmessage?.(message);
    }
    return message !== null;
  } catch (error) {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    return true;
  }
}
