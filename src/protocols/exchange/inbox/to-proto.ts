// Converts a command to its message, for callers that have an inbox parsed and not executed.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ParsedCommandSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import type { Command } from "../command.ts";

/** Converts a command. */
export function commandToProto(command: Command): MessageInitShape<typeof ParsedCommandSchema> {
  const { type } = command;
  switch (type) {
    case "CREATE_FILE":
      return { type, attributes: { path: command.path }, body: command.content };
    case "EDIT_FILE": {
      const { path, startLine, endLine, content } = command;
      return { type, attributes: { path, startLine: `${startLine}`, endLine: `${endLine}` }, body: content };
    }
    case "DELETE_FILE":
    case "READ_FILE":
      return { type, attributes: { path: command.path } };
    case "RUN_COMMAND":
      return { type, attributes: {}, body: command.command };
    case "MESSAGE":
      return { type, attributes: {}, body: command.text };
    case "DONE":
      return { type, attributes: {}, body: command.message };
    case "PARSE_ERROR":
      return { type, message: command.message };
  }
}
