// The tool set_state: changes one value of the conversation's state, for the front end. The state is what the log says: the call
// stores nothing else.

import { StateUpdated_Scope } from "#gen/runnel/v1/result_pb.js";
import { readText, type ToolArguments } from "./arguments.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

/** Long enough for a path of names. */
const keyCharsMax = 256;
/** A front end keeps the whole state in memory, and sends it with each message. */
const valueBytesMax = 65_536;

/** The tool set_state. */
export const setState: Tool = {
  name: "set_state",
  description:
    "Changes one value of the state that the user's screen shows. A later call with the same key replaces the value. " +
    "You read the state only from the messages of the user.",
  parameters: {
    type: "object",
    properties: {
      key: { type: "string", description: "Name of the value." },
      value: { description: "The new value: any JSON." },
    },
    required: ["key", "value"],
  },
  afterCrash: "again",
  run: async (args) => check(args),
  changes: (args) => [
    {
      payload: {
        case: "stateUpdated",
        value: {
          scope: StateUpdated_Scope.CONVERSATION,
          key: readText(args, "key") ?? "",
          value: JSON.stringify(args.value ?? null),
        },
      },
    },
  ],
};

function check(args: ToolArguments): ToolOutcome {
  const key = readText(args, "key");
  if (key === undefined || key.length > keyCharsMax || !key.isWellFormed() || key.includes("\0")) {
    return { error: `invalid key: give a text of 1 to ${keyCharsMax} characters` };
  }
  if (!("value" in args)) {
    return { error: "value is missing: give any JSON, or null" };
  }
  const bytes = Buffer.byteLength(JSON.stringify(args.value));
  return bytes > valueBytesMax
    ? { error: `value too large: ${bytes} bytes, max ${valueBytesMax}` }
    : { content: `Set ${key}` };
}
