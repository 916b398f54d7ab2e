// `runnel chat`: a conversation in the terminal. In a pipe each line of standard input is a message.

import type { Command } from "commander";
import { type AgentFlags, addAgentFlags, readReplacements } from "../agent-flags.ts";
import { mayAsk } from "../ask.ts";
import { explainAbsence, withService } from "../connect.ts";
import { example } from "../example.ts";
import { explain, showFailure } from "../failure.ts";
import { decodeText, nameOf, readRawLines } from "../input.ts";
import { type Output, outputOf } from "../output.ts";
import { plainText } from "../show.ts";
import { addServiceFlags, findTarget, lineFor, type ServiceFlags } from "../target.ts";
import { Conversation } from "./conversation.ts";
import { MarkdownStyle } from "./markdown.ts";
import { Prompt } from "./prompt.ts";
import { isSlashCommand, runSlashCommand } from "./slash-commands.ts";

interface ChatFlags extends AgentFlags, ServiceFlags {
  readonly session?: string;
}

/** Defines `chat`. */
export function defineChat(command: Command): void {
  addAgentFlags(addServiceFlags(command))
    .addHelpText("after", example("runnel chat --tools list_dir,read_file"))
    .option("--session <id>", "session to resume; its agent answers, with the settings of these flags")
    .action(async ({ session, ...flags }: ChatFlags) => {
      const output = outputOf(command);
      const isPerson = mayAsk(output.asJson);
      const isPlain = output.paint("bold", "a") === "a";
      const createStyle = () => (isPlain ? plainText : new MarkdownStyle(output.paint));
      await withService(flags, async (service) => {
        const conversation = new Conversation({ service, flags, output, isPerson, createStyle });
        if (session !== undefined) {
          await conversation.resume(session, await readReplacements(flags));
        }
        await (isPerson ? talk(conversation, flags, output) : sendLines(conversation));
      });
    });
}

/** Takes messages and commands from a person. A failure is shown, and the conversation goes on. */
async function talk(conversation: Conversation, flags: ServiceFlags, output: Output): Promise<void> {
  const { url } = await findTarget(flags, process.env);
  output.note("/help lists the commands; Ctrl-D leaves");
  const prompt = new Prompt();
  for (let isOver = false; !isOver; ) {
    const line = await prompt.ask();
    try {
      isOver = line === undefined || (await explainAbsence(url, () => take(conversation, line)));
    } catch (error) {
      output.note(showFailure(explain(error), output.paint));
    }
  }
  const { sessionId } = conversation;
  if (sessionId !== undefined) {
    output.note(`resume it: ${lineFor(flags, `runnel chat --session ${sessionId}`)}`);
  }
}

async function take(conversation: Conversation, line: string): Promise<boolean> {
  if (isSlashCommand(line)) {
    return await runSlashCommand(conversation, line);
  }
  if (line.trim() !== "") {
    await conversation.send(line);
  }
  return false;
}

async function sendLines(conversation: Conversation): Promise<void> {
  let number = 0;
  for await (const bytes of readRawLines("-")) {
    const line = decodeText(`line ${++number} of ${nameOf("-")}`, bytes);
    if (line.trim() !== "") {
      await conversation.send(line);
    }
  }
}
