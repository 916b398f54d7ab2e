// The messages of ACP on standard input and output, one a line.

import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { parseObject } from "../../platform/base/json/parse-object.ts";
import { readLines } from "../input.ts";
import { printJson } from "../terminal.ts";

/** Returns the stream of messages. A line that is no JSON object is answered with an error, as JSON-RPC has it. */
export function openStdio(): Stream {
  return { readable: ReadableStream.from(readMessages()), writable: new WritableStream({ write: printJson }) };
}

async function* readMessages(): AsyncGenerator<AnyMessage> {
  for await (const line of readLines("-")) {
    const message = parseObject(line);
    if (message !== undefined) {
      yield message as AnyMessage;
    } else if (line.trim() !== "") {
      const error = { code: parseError, message: "invalid message: each line must be one JSON object" };
      await printJson({ jsonrpc: "2.0", id: null, error });
    }
  }
}

const parseError = -32_700;
