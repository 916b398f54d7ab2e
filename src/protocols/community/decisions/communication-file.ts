// Prints the communication log in the form of its daily files ("Runner Communication Protocol Guardrails"). Pure.

import type { CommunicationDirection } from "../storage/schema.ts";

/** The fields of one printed entry. */
export interface PrintedCommunication {
  /** The local time of the reader. */
  readonly localTime: string;
  readonly instanceId: string;
  readonly port: string;
  readonly pid: number;
  readonly agentId: string;
  readonly direction: CommunicationDirection;
  readonly actionTypes: readonly string[];
  readonly content: string;
}

/**
 * Prints one entry between two lines of 60 `=`, with a line each for time, process, direction and actions above its content.
 */
export function printCommunication(entry: PrintedCommunication): string {
  const { localTime, instanceId, port, pid, agentId, direction, actionTypes, content } = entry;
  return [
    line,
    localTime,
    `Instance: ${instanceId} | Port: ${port} | PID: ${pid} | Agent: ${agentId}`,
    direction === "agent_to_runner" ? "Agent -> Runner" : "Runner -> Agent",
    `Action: ${actionTypes.join(", ")}`,
    content,
    line,
    "",
  ].join("\n");
}

const line = "=".repeat(60);
