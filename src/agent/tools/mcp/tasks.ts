// The Tasks extension (`io.modelcontextprotocol/tasks`, SEP-2663) as a client: a server may answer the call of a tool with a task, whose
// result its client asks for later. The official client knows no extension methods of this era, so their messages are written here.
//
// T1  A result of a type that the official client refuses reaches its caller: a task, in `_meta`, and one without a type, which is whole.
// T2  A request of the extension ends with its answer, with its signal or with the connection.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  type Transport,
} from "@modelcontextprotocol/client";
import { isObject } from "../../../platform/base/json/parse-object.ts";
import { taskIdCharsMax } from "./limits.ts";

/** What a client declares that takes tasks. */
export const tasksCapability = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** A task that a server has begun. */
export interface StartedTask {
  readonly taskId: string;
  /** The time between two looks that the server wants; undefined without a wish. */
  readonly pollIntervalMs: number | undefined;
}

/** A task as the server describes it: an object of the server's. */
export type DescribedTask = Readonly<Record<string, unknown>>;

const metaKey = "runnel/task";

/** Returns the task of a result; undefined for any other result. Throws when its id cannot be kept. */
export function readTask(result: unknown): StartedTask | undefined {
  const meta = isObject(result) ? result._meta : undefined;
  const task = isObject(meta) ? meta[metaKey] : undefined;
  if (!isObject(task)) {
    return undefined;
  }
  const { taskId, pollIntervalMs } = task;
  if (
    typeof taskId !== "string" ||
    taskId === "" ||
    taskId.length > taskIdCharsMax ||
    /\0|[\ud800-\udfff]/u.test(taskId)
  ) {
    throw new Error(`the server began a task without a valid id (1 to ${taskIdCharsMax} characters)`);
  }
  return { taskId, pollIntervalMs: typeof pollIntervalMs === "number" ? pollIntervalMs : undefined };
}

/** The methods of the extension on one connection. */
export interface TaskCalls {
  /** Sends a request. Rejects with ProtocolError when the server refuses it. */
  request(method: "tasks/get" | "tasks/cancel", taskId: string, signal: AbortSignal): Promise<DescribedTask>;
}

/** Adds the extension to a connection of this revision, which is open. */
export function addTasks(transport: Transport, version: string, clientInfo: object): TaskCalls {
  const waiting = new Map<string, (message: JSONRPCMessage) => void>();
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    const asked = "id" in message && !("method" in message) ? waiting.get(String(message.id)) : undefined;
    if (asked === undefined) {
      onmessage?.(mend(message), extra);
    } else {
      asked(message);
    }
  };
  const _meta = {
    [PROTOCOL_VERSION_META_KEY]: version,
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: tasksCapability,
  };
  let count = 0;
  return {
    request: async (method, taskId, signal) => {
      count += 1;
      const id = `task-${count}`;
      const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
      waiting.set(id, resolve);
      try {
        const request: JSONRPCMessage = { jsonrpc: "2.0", id, method, params: { taskId, _meta } };
        await transport.send(request, { requestSignal: signal });
        return readAnswer(await promise);
      } finally {
        waiting.delete(id);
      }
    },
  };
}

function readAnswer(message: JSONRPCMessage): DescribedTask {
  if ("error" in message) {
    const { code, message: text, data } = message.error;
    throw new ProtocolError(code, text, data);
  }
  return "result" in message ? message.result : {};
}

function mend(message: JSONRPCMessage): JSONRPCMessage {
  if (!("result" in message)) {
    return message;
  }
  const { result } = message;
  if (result.resultType === "task") {
    return { ...message, result: { resultType: "complete", content: [], _meta: { [metaKey]: result } } };
  }
  // The specification wants a client to take a result without a type as a whole one.
  return result.resultType === undefined ? { ...message, result: { resultType: "complete", ...result } } : message;
}
