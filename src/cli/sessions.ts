// `runnel sessions`: lists the sessions of a client, shows one and its conversation, deletes and purges.

import type { Command } from "commander";
import { type Session, Session_StateSchema, SessionSchema } from "#gen/runnel/v1/session_pb.js";
import {
  DeleteSessionResponseSchema,
  PurgeSessionResponseSchema,
  type SessionMessage,
  SessionMessageSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import { addLimitFlag, answerOne, type ListFlags, listAll } from "./answer.ts";
import { answerJson } from "./answer-json.ts";
import { addYesFlag, confirm } from "./confirm.ts";
import { withService } from "./connect.ts";
import { example } from "./example.ts";
import { answerItems } from "./list-view.ts";
import { outputOf, type Paint, printsIds } from "./output.ts";
import { readPages } from "./pages.ts";
import { sheet, timeOf, wordOf } from "./sheet.ts";
import { textOf } from "./show.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";
import { addWatchFlag } from "./watch-list.ts";

const sessionId = "0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d";
const saidCharsMax = 60;

/** Defines `sessions`. */
export function defineSessions(sessions: Command): void {
  addSessionList(sessions);
  addSession(sessions);
  addMessages(sessions);
  addDelete(sessions);
  addPurge(sessions);
}

function addSessionList(sessions: Command): void {
  addWatchFlag(addLimitFlag(addServiceFlags(sessions.command("list"))))
    .description("list sessions, newest first")
    .addHelpText("after", example("runnel sessions list --limit 10"))
    .action((flags: ListFlags, command: Command) =>
      listAll(command, flags, {
        name: "sessions",
        schema: SessionSchema,
        id: ({ sessionId }) => sessionId,
        read: async (service, request) => {
          const page = await service.sessions.listSessions(request);
          return { items: page.sessions, nextPageToken: page.nextPageToken };
        },
        columns: ["SESSION", "STATE", "AGENT", "MODEL", "CREATED", "SAID"],
        row: (session, cut) => [
          session.sessionId,
          stateOf(session),
          session.name,
          session.model,
          timeOf(session.createdAt),
          cut(session.error || session.output, saidCharsMax),
        ],
        wide: {
          RUN: ({ latestRunId }) => latestRunId || "–",
          TURNS: ({ turns }) => String(turns),
          "FORK OF": ({ fork }) => fork?.sessionId || "–",
          NOTES: ({ annotations }) => annotations || "–",
        },
      }),
    );
}

function addSession(sessions: Command): void {
  printsIds(addServiceFlags(sessions.command("show <id>")))
    .description("show a session and its newest run")
    .addHelpText("after", example(`runnel sessions show ${sessionId}`))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async (service) => {
        const { session } = await service.sessions.getSession({ sessionId: id });
        await answerOne(command, {
          ...{ schema: SessionSchema, message: session, id: (each: Session) => each.sessionId },
          show: showSession,
        });
      }),
    );
}

function addMessages(sessions: Command): void {
  printsIds(addServiceFlags(sessions.command("messages <id>")))
    .description("print the conversation of a session, oldest message first")
    .addHelpText("after", example(`runnel sessions messages ${sessionId}`))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async (service) => {
        const { items } = await readPages(async (request) => {
          const page = await service.sessions.listMessages({ sessionId: id, ...request });
          return { items: page.messages, nextPageToken: page.nextPageToken };
        }, Number.MAX_SAFE_INTEGER);
        const messages = {
          name: "messages",
          schema: SessionMessageSchema,
          id: (each: SessionMessage) => String(each.number),
        };
        await answerItems(outputOf(command), messages, items, (paint) =>
          items.map((item) => showMessage(item, paint)).join("\n"),
        );
      }),
    );
}

function addDelete(sessions: Command): void {
  addYesFlag(printsIds(addServiceFlags(sessions.command("delete <id>"))))
    .description("delete a session; its active run is cancelled")
    .addHelpText("after", example(`runnel sessions delete ${sessionId} --yes`))
    .action(async (id: string, flags: ServiceFlags, command: Command) => {
      await confirm(command, {
        says: `delete removes session ${id} and cancels its run`,
        asks: `Delete session ${id}?`,
        refused: "nothing was deleted",
      });
      await withService(flags, async (service) => {
        const response = await service.sessions.deleteSession({ sessionId: id });
        await outputOf(command).answer(answerJson(DeleteSessionResponseSchema, response), () => `deleted ${id}`, [id]);
      });
    });
}

function addPurge(sessions: Command): void {
  addYesFlag(printsIds(addServiceFlags(sessions.command("purge <id>"))))
    .description("erase the text of a session's runs, also of a deleted session; cannot be undone")
    .addHelpText("after", example(`runnel sessions purge ${sessionId} --yes`))
    .action(async (id: string, flags: ServiceFlags, command: Command) => {
      await confirm(command, {
        says: `purge erases the texts of session ${id} permanently`,
        asks: `Erase the texts of session ${id} permanently?`,
        refused: "nothing was purged",
      });
      await withService(flags, async (service) => {
        const response = await service.sessions.purgeSession({ sessionId: id });
        const { runs, results } = response;
        await outputOf(command).answer(
          answerJson(PurgeSessionResponseSchema, response),
          () => `purged ${id}: ${count(runs, "run")}, ${count(Number(results), "result")} erased now`,
          [id],
        );
      });
    });
}

function showSession(session: Session, paint: Paint): string {
  return sheet(paint, `session ${session.sessionId}  ${stateOf(session)}`, [
    ["agent", session.name],
    ["model", session.model],
    ["created", timeOf(session.createdAt)],
    ["run", session.latestRunId],
    ["fork of", session.fork?.sessionId],
    ["notes", session.annotations],
    ["error", session.error],
    ["output", session.output],
  ]);
}

function showMessage({ number, message }: SessionMessage, paint: Paint): string {
  const calls = message?.toolCalls.map(({ name, arguments: words }) => `\n→ ${name} ${words}`).join("") ?? "";
  return `${paint("bold", `${number} ${message?.role ?? ""}`)}  ${textOf(message)}${calls}`;
}

function stateOf({ status }: Session): string {
  return wordOf(Session_StateSchema, status);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
