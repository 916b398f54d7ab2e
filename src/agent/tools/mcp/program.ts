// A program that speaks MCP over its standard input and output, as a transport: a message is a line of JSON.

import type { ChildProcess } from "node:child_process";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import type { ProgramAddress } from "../../../platform/config/program-address.ts";
import { type ProgramOptions, type ServedProgram, serveProgram } from "../bash/served-program.ts";
import type { BreakableTransport } from "./connection.ts";

/** A started server. */
export interface Program extends BreakableTransport, Pick<ServedProgram, "stop"> {}

/** Starts a program. The transport breaks when the program ends. */
export async function startProgram(address: ProgramAddress, options: ProgramOptions): Promise<Program> {
  const { child, broken, stop } = await serveProgram(address, options);
  return { transport: createTransport(child, broken), broken: broken.signal, stop };
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
