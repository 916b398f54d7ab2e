// A service that clients of A2A call: by the official client over each binding, and by hand, so that tests see each answer.

import type { Part, StreamResponse } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { credentialsOf } from "../harness/credentials.ts";

export const bindings = ["JSONRPC", "HTTP+JSON", "GRPC"] as const;
type Binding = (typeof bindings)[number];

/** The official client, unmodified. */
export async function connect(url: string, binding: Binding): Promise<Client> {
  const transports = [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()];
  return await new ClientFactory({ transports, preferredTransports: [binding] }).createFromUrl(url);
}

/** What the official client adds to each call. */
export function as(clientId?: string) {
  return { serviceParameters: credentialsOf(clientId) };
}

/** Returns a message as the official client takes it. */
export function say(text: string, { tenant = "", contextId = "", taskId = "", returnImmediately = false } = {}) {
  const rest = { metadata: undefined };
  const ids = { messageId: crypto.randomUUID(), contextId, taskId, referenceTaskIds: [], extensions: [] };
  const unset = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, historyLength: undefined };
  return {
    ...rest,
    tenant,
    message: { ...rest, ...ids, role: 1, parts: [textPart(text)] },
    configuration: { ...unset, returnImmediately },
  };
}

function textPart(value: string): Part {
  return { content: { $case: "text", value }, filename: "", mediaType: "", metadata: undefined };
}

/** Returns a request for tasks as the official client takes it. */
export function listOf(request: Partial<Parameters<Client["listTasks"]>[0]> = {}): Parameters<Client["listTasks"]>[0] {
  return {
    tenant: "",
    contextId: "",
    status: 0,
    pageSize: undefined,
    pageToken: "",
    historyLength: undefined,
    statusTimestampAfter: undefined,
    includeArtifacts: undefined,
    ...request,
  };
}

/** Returns the texts of parts. */
export function textOf(parts: readonly Part[] = []): string {
  return parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
}

/** Sends a request of JSON-RPC. */
export function postRpc(
  url: string,
  method: unknown,
  params: unknown,
  { clientId, headers = {} }: { readonly clientId?: string; readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${url}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...credentialsOf(clientId), ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
}

/** What a client has of a task with one artifact. */
export class TaskReader {
  taskId = "";
  text = "";
  state: number | undefined;

  take({ payload }: StreamResponse): void {
    if (payload?.$case === "task") {
      this.taskId = payload.value.id;
      this.text = textOf(payload.value.artifacts[0]?.parts);
      this.state = payload.value.status?.state;
    } else if (payload?.$case === "statusUpdate") {
      this.state = payload.value.status?.state;
    } else if (payload?.$case === "artifactUpdate") {
      this.text = (payload.value.append ? this.text : "") + textOf(payload.value.artifact?.parts);
    }
  }
}
