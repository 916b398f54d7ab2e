// The output of commands: the answer on standard output, everything else on standard error. With `--json` the answer is one
// JSON document, or one a line for streams, and no progress is shown.

import { styleText } from "node:util";
import type { Command } from "commander";
import { createProgress, type Progress } from "./progress.ts";
import { markOwn, print, printJson, sayJson, sayLine } from "./terminal.ts";

/** A style of `styleText`. */
export type Style = Parameters<typeof styleText>[0];
/** Colours a text if colours are wanted. */
export type Paint = (style: Style, text: string) => string;

/** The output of a command. */
export interface Output {
  readonly asJson: boolean;
  /** Colours a text for standard output. */
  readonly paint: Paint;
  /** Prints the answer of a command: `value` for programs, or `show` for people. */
  answer(value: unknown, show: (paint: Paint) => string): Promise<void>;
  /** Prints one of many answers. Waits while its reader is slow. */
  stream(value: () => unknown, show: (paint: Paint) => string): Promise<void>;
  /** Prints additional information. A note without a value is for people only. */
  note(text: string, value?: Readonly<Record<string, unknown>>): void;
  /** Shows progress of slow work. The caller closes it before it prints anything else. */
  openProgress(): Progress;
}

interface GlobalFlags {
  readonly json?: boolean;
  readonly color?: boolean;
}

/** Adds the flags that every command has. */
export function addGlobalFlags(program: Command): Command {
  return program
    .option("--json", "print answers, notes and errors as JSON, for programs")
    .option("--no-color", "print no colours");
}

/** Returns the output that the command line and the environment ask for. */
export function outputOf(command: Command): Output {
  const flags = command.optsWithGlobals<GlobalFlags>();
  const asJson = flags.json === true;
  const paintOut = paintFor(process.stdout, flags);
  return {
    asJson,
    paint: paintOut,
    answer: (value, show) => (asJson ? printJson(value) : print(endLine(show(paintOut)))),
    stream: (value, show) => (asJson ? printJson(value()) : print(show(paintOut))),
    note: (text, value) => {
      if (!asJson) {
        sayLine(text);
      } else if (value !== undefined) {
        sayJson(value);
      }
    },
    openProgress: () => createProgress(process.stderr, asJson ? "none" : progressStyle(process.env)),
  };
}

/** Returns the colours for failures, also when the command is unknown. */
export function paintErrors(program: Command): Paint {
  return paintFor(process.stderr, program.opts<GlobalFlags>());
}

/** Returns true with `--json`. */
export function wantsJson(program: Command): boolean {
  return program.opts<GlobalFlags>().json === true;
}

/** What decides about colours. */
export interface ColourQuestion extends GlobalFlags {
  readonly isTty: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Returns true for a person at a terminal who did not turn colours off. */
export function mayColour({ isTty, environment, json, color }: ColourQuestion): boolean {
  const { NO_COLOR = "", CI = "", TERM } = environment;
  return isTty && json !== true && color !== false && NO_COLOR === "" && CI === "" && TERM !== "dumb";
}

function paintFor(stream: NodeJS.WriteStream, flags: GlobalFlags): Paint {
  const colours = mayColour({ ...flags, isTty: stream.isTTY === true, environment: process.env });
  // The decision is made here, so Node does not decide again by other rules.
  return (style, text) => (colours ? markOwn(styleText(style, text, { validateStream: false })) : text);
}

/** Returns "line" for a terminal, which can overwrite a line. */
function progressStyle({ CI = "", TERM }: NodeJS.ProcessEnv): "line" | "lines" {
  return process.stderr.isTTY === true && CI === "" && TERM !== "dumb" ? "line" : "lines";
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
