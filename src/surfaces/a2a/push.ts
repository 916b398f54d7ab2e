// Push notifications of A2A 1.0.1 §4.3.3: addresses of a task to which the service posts the task when it asks for something and when
// it ends. The outbox of callbacks delivers them.

import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { type Empty, EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ContextValues } from "@connectrpc/connect";
import {
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  ListTaskPushNotificationConfigsResponseSchema,
  StreamResponseSchema,
  type TaskPushNotificationConfig,
  TaskPushNotificationConfigSchema,
} from "#gen/lf/a2a/v1/a2a_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { newUuid } from "../../platform/base/ids.ts";
import type { LocalMethods } from "../../platform/base/local-methods.ts";
import { type PrintPush, type PushConfig, pushConfigsMax } from "../../platform/base/pushes.ts";
import { Calls } from "../in-process/calls.ts";
import type { A2aCall, Server } from "./call.ts";
import { A2aError, InvalidField } from "./errors.ts";
import { eventOf } from "./fold.ts";
import { readTask, requireRun } from "./tasks.ts";

/** `CreateTaskPushNotificationConfig`. An id that the task has is replaced. */
export async function createPush(
  call: A2aCall,
  request: TaskPushNotificationConfig,
): Promise<TaskPushNotificationConfig> {
  const run = await requireRun(call, request.taskId);
  const push = readPush(call, request);
  await putPush(call, run, push, { pushesNow: false });
  return toProto(run.runId, push);
}

/** `GetTaskPushNotificationConfig`. */
export async function getPush(
  call: A2aCall,
  { taskId, id }: GetTaskPushNotificationConfigRequest,
): Promise<TaskPushNotificationConfig> {
  const { runId } = await requireRun(call, taskId);
  const found = (await call.server.pushConfigs.list(runId)).find((each) => each.id === id);
  if (found === undefined) {
    const problem = `the task has no push notification configuration ${JSON.stringify(id)}`;
    throw new A2aError("TASK_NOT_FOUND", problem);
  }
  return toProto(runId, found);
}

/** `ListTaskPushNotificationConfigs`: all of them, for a task has few. */
export async function listPushes(
  call: A2aCall,
  { taskId, pageToken }: ListTaskPushNotificationConfigsRequest,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const { runId } = await requireRun(call, taskId);
  if (pageToken !== "") {
    throw new InvalidField("pageToken", "must be empty: one page has all configurations");
  }
  const found = await call.server.pushConfigs.list(runId);
  return create(ListTaskPushNotificationConfigsResponseSchema, { configs: found.map((each) => toProto(runId, each)) });
}

/** `DeleteTaskPushNotificationConfig`. A repetition changes nothing. */
export async function deletePush(
  call: A2aCall,
  { taskId, id }: DeleteTaskPushNotificationConfigRequest,
): Promise<Empty> {
  const { runId } = await requireRun(call, taskId);
  await call.server.pushConfigs.remove(runId, id);
  return create(EmptySchema);
}

/** Checks a configuration. `path` is the place of it in the request. Throws InvalidField. */
export function readPush({ server }: A2aCall, config: TaskPushNotificationConfig, path = ""): PushConfig {
  const field = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const { url, token, authentication } = config;
  const { scheme = "", credentials = "" } = authentication ?? {};
  const problem = url === "" ? "is missing" : server.pushConfigs.findProblem(url);
  if (problem !== undefined) {
    throw new InvalidField(field("url"), problem);
  }
  if (config.id.length > idCharsMax || !/^[\x21-\x7e]*$/.test(config.id)) {
    throw new InvalidField(field("id"), `must be at most ${idCharsMax} visible characters of ASCII`);
  }
  if (authentication !== undefined && !/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(scheme)) {
    throw new InvalidField(field("authentication.scheme"), "must be the name of a scheme, such as Bearer");
  }
  for (const [name, value] of Object.entries({ token, "authentication.credentials": credentials })) {
    if (value.length > secretCharsMax || !/^[\x20-\x7e]*$/.test(value)) {
      throw new InvalidField(field(name), `must be at most ${secretCharsMax} characters of ASCII, for a header has it`);
    }
  }
  const id = config.id === "" ? newUuid(server.clock.nowMs()) : config.id;
  return { id, url, token, scheme, credentials };
}

const idCharsMax = 128;
const secretCharsMax = 4_096;

/** Adds a configuration to a task. Throws A2aError for one too many. */
export async function putPush(
  { server }: A2aCall,
  { runId }: Run,
  push: PushConfig,
  options: { readonly pushesNow: boolean },
): Promise<void> {
  if (!(await server.pushConfigs.put(runId, push, options))) {
    const problem = `the task has ${pushConfigsMax} push notification configurations: delete one`;
    throw new A2aError("UNSUPPORTED_OPERATION", problem);
  }
}

/** Returns the function that prints pushes: the task as it is when the push is sent. `valuesOf` names a client as the caller. */
export function createPrintPush(
  server: Server,
  methods: LocalMethods,
  valuesOf: (client: string) => ContextValues,
): PrintPush {
  return async (client, runId) => {
    const values = valuesOf(client);
    const { signal } = new AbortController();
    const calls = new Calls(methods, { headers: {}, signal, contextValues: values });
    const call: A2aCall = { server, calls, values, address: "", idempotencyKey: "", patienceMs: undefined };
    const { task } = await readTask(call, await requireRun(call, runId));
    const event = eventOf({ case: "task", value: task });
    return { body: JSON.stringify(toJson(StreamResponseSchema, event)), type: "application/a2a+json" };
  };
}

/** The credentials stay here: only the receiver needs them. */
function toProto(taskId: string, { id, url, token, scheme }: PushConfig): TaskPushNotificationConfig {
  const config: MessageInitShape<typeof TaskPushNotificationConfigSchema> = { id, taskId, url, token };
  return create(TaskPushNotificationConfigSchema, { ...config, ...(scheme !== "" && { authentication: { scheme } }) });
}
