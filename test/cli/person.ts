// A person at terminals: bash in a pty, in a folder that is empty at first, with `runnel` on the PATH and none of the tests' variables.
// The person knows the documentation and what the terminals show, and types nothing else.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished } from "vitest";
import { listPages, readPage } from "../../scripts/docs/pages.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { compileCacheEnvironment, programPath } from "../harness/program.ts";
import { until } from "../harness/wait.ts";
import { ownFolder, startInTerminal } from "./command.ts";

/** What a task costs a person. */
export interface Effort {
  /** Lines that were entered, and keys that a program asked for. */
  steps: number;
  /** A pasted line, id or key is one. */
  keystrokes: number;
  /** From the first key to the first answer. */
  answerMs: number | undefined;
}

export interface Shell {
  /** Types a line of the documentation, and pastes what a terminal has shown behind it. */
  enter(line: string, pasted?: string): Promise<void>;
  /** Pastes a line that a terminal has shown. */
  paste(line: string): Promise<void>;
  /** Presses keys that a program asks for. */
  press(keys: string, strokes?: number): void;
  /** Waits for new text, and returns it with what came before it. */
  see(text: string | RegExp): Promise<string>;
  /** Like `see`, and it is the first answer. */
  seeAnswer(text: string | RegExp): Promise<string>;
  /** Waits until the shell asks for the next line, and returns what was shown since the last wait. */
  finish(): Promise<string>;
  /** Closes the window. */
  close(): Promise<void>;
}

export interface Person {
  readonly folder: string;
  readonly url: string;
  readonly effort: Effort;
  openShell(): Promise<Shell>;
  /** Starts `runnel dev`, which stays there. Returns what it shows. */
  startDev(): Promise<string>;
}

const pages = listPages().map(readPage).join("\n");
const prompt = "person$ ";
/** A service has drained by then; a program that a failed test has left at its prompt has not. */
const endMaxMs = 30_000;
const runsLine = "\u001b[?2004l";
export const controlC = "\u0003";
export const controlD = "\u0004";

/** Returns the lines of a named block of docs/first-tasks.md. */
export function linesOf(block: string): string[] {
  const text = new RegExp(`\`\`\`sh ${block}\\n([\\s\\S]*?)\`\`\``).exec(readPage("docs/first-tasks.md"))?.[1];
  return (text ?? expect.unreachable(`no block ${block}`)).trimEnd().split("\n");
}

export async function openPerson(variables: Readonly<Record<string, string>> = {}): Promise<Person> {
  const place = await ownFolder();
  const [folder, programs] = [join(place, "work"), join(place, "bin")];
  for (const each of [folder, programs]) {
    mkdirSync(each);
  }
  const program = `#!/bin/sh\nexec '${process.execPath}' '${programPath}' "$@"\n`;
  writeFileSync(join(programs, "runnel"), program, { mode: 0o755 });
  const [port = 0] = await findFreePorts(1);
  const environment = {
    PATH: `${programs}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: place,
    TMPDIR: place,
    TERM: "xterm",
    RUNNEL_SERVER_PORT: String(port),
    ...compileCacheEnvironment,
    ...variables,
  };
  const effort: Effort = { steps: 0, keystrokes: 0, answerMs: undefined };
  const screens: (() => string)[] = [];
  const openShell = () => openShellIn({ folder, environment, effort, screens });
  onTestFinished(async () => {
    await until("Postgres to end", () => !hasPostgres(folder));
  });
  return {
    ...{ folder, url: `http://127.0.0.1:${port}`, effort, openShell },
    startDev: async () => {
      const shell = await openShell();
      const [line = ""] = linesOf("dev");
      await shell.enter(line);
      return await shell.see("/stream\n");
    },
  };
}

interface Place {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly effort: Effort;
  /** What each terminal of the person has shown so far. */
  readonly screens: (() => string)[];
}

async function openShellIn({ folder, environment, effort, screens }: Place): Promise<Shell> {
  const words = Object.entries({ ...environment, PS1: prompt }).map(([name, value]) => quote(`${name}=${value}`));
  const bash = `stty cols 200; cd ${quote(folder)}; exec env -i ${words.join(" ")} bash --norc`;
  const terminal = startInTerminal(["bash", "-c", bash]);
  const readScreen = (): string => plainText(terminal.stdout());
  screens.push(readScreen);
  let seenChars = 0;
  const see = (text: string | RegExp): Promise<string> =>
    until(`${text} on the terminal`, () => {
      const fresh = readScreen().slice(seenChars);
      const found = typeof text === "string" ? fresh.indexOf(text) : fresh.search(text);
      const { length } = typeof text === "string" ? text : (text.exec(fresh)?.[0] ?? "");
      if (found === -1) {
        return undefined;
      }
      seenChars += found + length;
      return fresh.slice(0, found + length);
    }).catch((cause) => expect.fail(`${cause.message}:\n${terminal.stdout().slice(-2_000)}`));
  const press = (keys: string, strokes: number): void => {
    startedMs.set(effort, startedMs.get(effort) ?? performance.now());
    effort.steps++;
    effort.keystrokes += strokes;
    terminal.type(keys);
  };
  const send = async (line: string, strokes: number): Promise<void> => {
    const before = terminal.stdout().length;
    press(`${line}\r`, strokes);
    // What follows is the program's, not the echo of the line.
    const end = await until(`the echo of ${line}`, () => {
      const index = terminal.stdout().indexOf(runsLine, before);
      return index === -1 ? undefined : index;
    });
    seenChars = plainText(terminal.stdout().slice(0, end)).length;
  };
  onTestFinished(async () => {
    terminal.type(`${controlC}\rkill $(jobs -p); wait; exit\r`);
    await Promise.race([terminal.ended, delay(endMaxMs, undefined, { ref: false })]);
  });
  await see(prompt);
  return {
    enter: async (line, pasted) => {
      expect(pages, `no page has: ${line}`).toContain(line);
      await (pasted === undefined
        ? send(line, line.length + 1)
        : send(`${line} ${pasted}`, line.length + " ".length + pasteKeys));
    },
    paste: async (line) => {
      expect(screens.map((read) => read()).join("\n")).toContain(line);
      await send(line, pasteKeys);
    },
    press: (keys, strokes = keys.length) => press(keys, strokes),
    see,
    seeAnswer: async (text) => {
      const shown = await see(text);
      effort.answerMs ??= performance.now() - (startedMs.get(effort) ?? expect.unreachable("nothing was typed"));
      return shown;
    },
    finish: () => see(prompt),
    close: async () => {
      terminal.child.kill("SIGKILL");
      await terminal.ended;
    },
  };
}

/** When the first key of each task was pressed. */
const startedMs = new WeakMap<Effort, number>();

/** One for the text, and Enter. */
const pasteKeys = 2;

function plainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll("\r", "");
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function hasPostgres(folder: string): boolean {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).some((path) => path.endsWith("postmaster.pid"));
}

/** Returns the text of a file; empty before a program has made it. */
export function readText(folder: string, name: string): string {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
