// What a person may type instead of a message.

import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { suggest } from "../../platform/base/nearest.ts";
import { CommandError } from "../command-error.ts";
import { findNearestModel, withModelHint } from "../models.ts";
import { timeOf } from "../sheet.ts";
import { cut } from "../shorten.ts";
import type { Conversation } from "./conversation.ts";

interface SlashCommand {
  readonly name: string;
  readonly words: string;
  readonly about: string;
  readonly run: (conversation: Conversation, word: string) => Promise<void> | void;
}

const sessionsShown = 10;
const saidCharsMax = 60;

const commands: readonly SlashCommand[] = [
  {
    name: "model",
    words: "[name]",
    about: "use a model for the next messages; without a name, list them",
    run: useModel,
  },
  {
    name: "agent",
    words: "[name]",
    about: "let another agent answer, in a fork; without a name, list them",
    run: useAgent,
  },
  {
    name: "fork",
    words: "",
    about: "go on in a copy of this conversation",
    run: (conversation) => conversation.fork(),
  },
  {
    name: "resume",
    words: "[id]",
    about: "continue an earlier session; without an id, list the newest",
    run: resume,
  },
  { name: "help", words: "", about: "show these commands", run: (conversation) => conversation.say(help()) },
  { name: "exit", words: "", about: "leave, as Ctrl-D does", run: () => {} },
];

/** Returns true for a line that is a command. */
export function isSlashCommand(line: string): boolean {
  return /^\/\w*(?:\s|$)/.test(line);
}

/** Runs a command. Returns true when it ends the conversation. */
export async function runSlashCommand(conversation: Conversation, line: string): Promise<boolean> {
  const [first = "", word = ""] = line.trim().split(/\s+/);
  const name = first.slice(1);
  const command = commands.find((each) => each.name === name);
  if (command === undefined) {
    const meant = suggest(
      `/${name}`,
      commands.map((each) => `/${each.name}`),
    );
    const fix = "/help lists the commands; a message may begin with a blank";
    throw new CommandError(`unknown command /${name}${meant}`, { reason: "USAGE", fix });
  }
  await command.run(conversation, word);
  return command.name === "exit";
}

function help(): string {
  const rows = commands.map(({ name, words, about }) => [`/${name} ${words}`, about] as const);
  const width = Math.max(...rows.map(([usage]) => usage.length));
  const lines = rows.map(([usage, about]) => `  ${usage.padEnd(width)}  ${about}`);
  return [...lines, "  Ctrl-C cancels a run; Ctrl-D leaves. Several lines can be pasted."].join("\n");
}

async function useModel(conversation: Conversation, name: string): Promise<void> {
  const { service } = conversation;
  const providers = service.client(ProviderService);
  if (name === "") {
    const { models } = await providers.listModels({});
    // The first one is the default.
    conversation.say(models.map((each, index) => `  ${each.name}${index === 0 ? " (default)" : ""}`).join("\n"));
    return;
  }
  await withModelHint(service, name, () => providers.getModel({ name }));
  conversation.useModel(name);
  const nearest = await findNearestModel(service, name);
  conversation.say(`the next messages go to ${name}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`);
}

async function useAgent(conversation: Conversation, name: string): Promise<void> {
  const { presets } = await conversation.service.sessions.listPresets({});
  const names = presets.map((each) => each.name);
  if (name === "") {
    conversation.say(presets.map((each) => `  ${each.name}${each.model === "" ? "" : `  ${each.model}`}`).join("\n"));
  } else if (names.includes(name)) {
    await conversation.useAgent(name);
    conversation.say(`${name} answers the next messages`);
  } else {
    const what = `there is no agent ${name}${suggest(name, names)}`;
    throw new CommandError(what, { reason: "PRESET_NOT_FOUND", fix: "/agent lists them" });
  }
}

async function resume(conversation: Conversation, id: string): Promise<void> {
  if (id !== "") {
    await conversation.resume(id);
    return;
  }
  const { sessions } = await conversation.service.sessions.listSessions({ pageSize: sessionsShown });
  const lines = sessions.map(
    ({ sessionId, name, createdAt, output }) =>
      `  ${sessionId}  ${timeOf(createdAt)}  ${name}  ${cut(output, saidCharsMax)}`,
  );
  conversation.say([...lines, "go on with one: /resume <id>"].join("\n"));
}
