// Reads the coding agents that the operator names, one a line. They may hold secrets, so messages never quote them.

import {
  type Fields,
  isTexts,
  type ProgramAddress,
  readNamedLines,
  readProgram,
  secretWords,
} from "../../platform/config/program-address.ts";

/** A coding agent of the settings: a program that speaks ACP. */
export interface CodingAgent {
  readonly name: string;
  readonly address: ProgramAddress;
  /** Whether it has the network of the machine. */
  readonly hasNetwork: boolean;
  /** `ask` leaves its permission requests to a person; `allow` permits each. */
  readonly permissions: "ask" | "allow";
  /** The clients whose agents may name it; undefined means all. */
  readonly clients: readonly string[] | undefined;
  /** The values that no text may show. */
  readonly secrets: readonly string[];
}

/** Returns the agents; undefined when a line is invalid. */
export function readCodingAgents(text: string): readonly CodingAgent[] | undefined {
  return readNamedLines(text, readAgent);
}

function readAgent(
  name: string,
  { clients, network = false, permissions = "ask", ...fields }: Fields,
): CodingAgent | undefined {
  const address = readProgram(fields);
  const isRight =
    address !== undefined &&
    (clients === undefined || isTexts(clients)) &&
    typeof network === "boolean" &&
    (permissions === "ask" || permissions === "allow");
  return isRight
    ? {
        name,
        address,
        hasNetwork: network,
        permissions,
        clients,
        secrets: secretWords(Object.values(address.environment)),
      }
    : undefined;
}
