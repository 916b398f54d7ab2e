// `runnel callbacks`: the status callbacks of a client's sessions, and those to send again.

import { type Command, Option } from "commander";
import { type StatusCallback, StatusCallback_StateSchema, StatusCallbackSchema } from "#gen/runnel/v1/callback_pb.js";
import { CallbackService } from "#gen/runnel/v1/callback_service_pb.js";
import { enumShape } from "../platform/base/json/shape.ts";
import { addLimitFlag, answerOne, type ListFlags, listAll } from "./answer.ts";
import { withService } from "./connect.ts";
import { example } from "./example.ts";
import { type Paint, printsIds } from "./output.ts";
import { sheet, timeOf, wordOf, wordsOf } from "./sheet.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";

interface CallbackListFlags extends ListFlags {
  readonly session: string;
  readonly state?: string;
}

/** Defines `callbacks`. */
export function defineCallbacks(callbacks: Command): void {
  addCallbackList(callbacks);
  addRedeliver(callbacks);
}

function addCallbackList(callbacks: Command): void {
  addLimitFlag(addServiceFlags(callbacks.command("list")))
    .description("list status callbacks, newest first")
    .addHelpText("after", example("runnel callbacks list --state dead"))
    .option("--session <id>", "only of this session", "")
    .addOption(
      new Option("--state <state>", "only callbacks in this state").choices(wordsOf(StatusCallback_StateSchema)),
    )
    .action(({ session: sessionId, state: word = "", ...flags }: CallbackListFlags, command: Command) => {
      const state = enumShape(StatusCallback_StateSchema).numbers.get(word) ?? 0;
      return listAll(command, flags, {
        name: "callbacks",
        schema: StatusCallbackSchema,
        id: ({ callbackId }) => callbackId,
        read: async ({ client }, request) => {
          const page = await client(CallbackService).listCallbacks({ sessionId, state, ...request });
          return { items: page.callbacks, nextPageToken: page.nextPageToken };
        },
        columns: ["CALLBACK", "STATE", "SESSION", "TO", "ATTEMPTS", "CREATED", "ERROR"],
        row: (callback) => [
          ...[callback.callbackId, stateOf(callback), callback.sessionId, callback.baseUrl],
          ...[String(callback.attempts), timeOf(callback.createTime), callback.lastError],
        ],
        wide: {
          RUN: ({ runId }) => runId || "–",
          NEXT: ({ nextAttemptTime }) => timeOf(nextAttemptTime),
          ENDED: ({ endTime }) => timeOf(endTime),
        },
      });
    });
}

function addRedeliver(callbacks: Command): void {
  printsIds(addServiceFlags(callbacks.command("redeliver <id>")))
    .description("send a dead callback again")
    .addHelpText("after", example("runnel callbacks redeliver 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d"))
    .action((callbackId: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const { callback } = await client(CallbackService).redeliverCallback({ callbackId });
        await answerOne(command, {
          ...{ schema: StatusCallbackSchema, message: callback, id: (each: StatusCallback) => each.callbackId },
          show: showCallback,
        });
      }),
    );
}

function showCallback(callback: StatusCallback, paint: Paint): string {
  return sheet(paint, `callback ${callback.callbackId}  ${stateOf(callback)}`, [
    ["session", callback.sessionId],
    ["run", callback.runId],
    ["to", callback.baseUrl],
    ["attempts", String(callback.attempts)],
    ["next", callback.nextAttemptTime && timeOf(callback.nextAttemptTime)],
    ["error", callback.lastError],
  ]);
}

function stateOf({ state }: StatusCallback): string {
  return wordOf(StatusCallback_StateSchema, state);
}
