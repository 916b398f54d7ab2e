// `runnel login` and `runnel logout`: keep the URL of a service and an API key for the commands of this user.

import { type Command, InvalidArgumentError } from "commander";
import type { ReasonName } from "../platform/base/reasons.ts";
import { readUrl } from "./arguments.ts";
import { askSecret, askText, mayAsk } from "./ask.ts";
import { CommandError } from "./command-error.ts";
import { connectTo, explainAbsence, reasonOf } from "./connect.ts";
import { createCredentials } from "./credentials.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { readInput } from "./input.ts";
import { outputOf } from "./output.ts";
import { defaultProfile, profilesPath, readProfiles, unknownProfile, writeProfiles } from "./profiles.ts";
import { defaultUrl, nameOf, type ServiceFlags, urlOf } from "./target.ts";

/** Longer than every key. */
const keyBytesMax = 8_192;

/** Defines `login`. */
export function defineLogin(command: Command): void {
  addProfileFlag(command)
    .option(
      "--url <url>",
      "URL of the service; unset asks a person, and means RUNNEL_URL or the default to a program",
      readUrl,
    )
    .addHelpText("after", example("runnel login --url https://runnel.example"))
    .action(async (flags: ServiceFlags) => {
      const output = outputOf(command);
      const path = profilesPath(process.env);
      const profiles = await readProfiles(path);
      const name = nameFrom(flags);
      const known = flags.url ?? urlOf(process.env) ?? profiles.get(name)?.url ?? defaultUrl(process.env);
      const isAsked = mayAsk(output.asJson);
      const url = flags.url === undefined && isAsked ? await askUrl(known) : known;
      const apiKey = (isAsked ? await ask(askSecret, "API key (it does not appear):") : await readKey()).trim();
      const clientId = await readClient(url, apiKey);
      await writeProfiles(path, new Map([...profiles, [name, { url, apiKey }]]));
      const value = { profile: name, url, client_id: clientId, file: path };
      await output.answer(value, () => `${url} knows you as client ${clientId}; profile ${name} is in ${path}`);
    });
}

/** Defines `logout`. */
export function defineLogout(command: Command): void {
  addProfileFlag(command)
    .addHelpText("after", example("runnel logout --profile staging"))
    .action(async (flags: ServiceFlags) => {
      const path = profilesPath(process.env);
      const profiles = await readProfiles(path);
      const name = nameFrom(flags);
      if (!profiles.has(name)) {
        throw unknownProfile(profiles, name);
      }
      await writeProfiles(path, new Map([...profiles].filter(([each]) => each !== name)));
      const said = `removed profile ${name}; its key stays valid until \`runnel keys revoke\``;
      await outputOf(command).answer({ profile: name, file: path }, () => said);
    });
}

function addProfileFlag(command: Command): Command {
  return command.option(
    "--profile <name>",
    `name of the profile; unset means RUNNEL_PROFILE, or ${defaultProfile}`,
    readName,
  );
}

function readName(text: string): string {
  if (/^[\w.-]{1,64}$/.test(text)) {
    return text;
  }
  throw new InvalidArgumentError("expected 1 to 64 letters, digits, dots, dashes or underscores");
}

function nameFrom({ profile }: ServiceFlags): string {
  return profile ?? readName(nameOf(process.env) ?? defaultProfile);
}

async function askUrl(known: string): Promise<string> {
  return readUrl((await ask(askText, `URL of the service [${known}]:`)).trim() || known);
}

/** Throws a `CommandError` after Ctrl-C. */
async function ask(way: typeof askText, question: string): Promise<string> {
  const answer = await way(question);
  if (answer === undefined) {
    throw new CommandError("nothing was written", { reason: "UNCONFIRMED", exitCode: exitCodes.failed });
  }
  return answer;
}

async function readKey(): Promise<string> {
  return (await readInput("-", keyBytesMax)).toString();
}

/** Returns the id of the client that the key belongs to. */
async function readClient(url: string, apiKey: string): Promise<string> {
  const { system } = connectTo(url, createCredentials(apiKey, {}));
  try {
    return (await explainAbsence(url, () => system.getUsage({}))).clientId;
  } catch (error) {
    if (apiKey === "" && reasonOf(error) === ("CREDENTIALS_MISSING" satisfies ReasonName)) {
      throw new CommandError(`the service at ${url} asks for an API key, and none was given`, {
        ...{ reason: "CREDENTIALS_MISSING", cause: error },
        fix: "type it where `runnel login` asks for it, or give it on standard input: runnel login < key.txt",
      });
    }
    throw error;
  }
}
