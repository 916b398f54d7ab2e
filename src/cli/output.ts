// The output of commands: the answer on standard output, everything else on standard error. In the formats for programs the answer
// is JSON, and no progress is shown.

import { styleText } from "node:util";
import { type Command, InvalidArgumentError } from "commander";
import { findNearest } from "../platform/base/nearest.ts";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { createProgress, type Progress } from "./progress.ts";
import { markOwn, print, printJson, sayJson, sayLine } from "./terminal.ts";

/** A style of `styleText`. */
export type Style = Parameters<typeof styleText>[0];
/** Colours a text if colours are wanted. */
export type Paint = (style: Style, text: string) => string;

const formats = ["table", "wide", "json", "jsonl", "id"] as const;
/** A format of answers. */
export type Format = (typeof formats)[number];

/** The output of a command. */
export interface Output {
  readonly format: Format;
  /** Whether a program reads. */
  readonly asJson: boolean;
  /** Colours a text for standard output. */
  readonly paint: Paint;
  /** Prints the answer of a command: `value` for programs, `ids` for pipes, or `show` for people. */
  answer(value: unknown, show: (paint: Paint) => string, ids?: readonly string[]): Promise<void>;
  /** Prints one of many answers. Waits while its reader is slow. */
  stream(value: () => unknown, show: (paint: Paint) => string): Promise<void>;
  /** Prints additional information. A note without a value is for people only. */
  note(text: string, value?: Readonly<Record<string, unknown>>): void;
  /** Shows progress of slow work. The caller closes it before it prints anything else. */
  openProgress(): Progress;
}

interface GlobalFlags {
  readonly output?: Format;
  readonly json?: boolean;
  readonly color?: boolean;
}

/** Adds the flags that every command has. */
export function addGlobalFlags(program: Command): Command {
  return program
    .option("-o, --output <format>", `format of answers: ${formats.join(", ")}; unset means table`, readFormat)
    .option("--json", "short for -o json, for programs")
    .option("--no-color", "print no colours");
}

const idPrinters = new WeakSet<Command>();

/** Marks a command whose answer has ids, for `-o id`. */
export function printsIds(command: Command): Command {
  idPrinters.add(command);
  return command;
}

/** Throws a `CommandError` when the command cannot print the format. It is called before the command does anything. */
export function assertFormat(command: Command): void {
  if (formatOf(command.optsWithGlobals<GlobalFlags>()) === "id" && !idPrinters.has(command)) {
    const fix = "use table, json or jsonl";
    throw new CommandError("the answer of this command has no ids", {
      ...{ reason: "USAGE", fix, exitCode: exitCodes.invalidUsage },
    });
  }
}

/** Returns the output that the command line and the environment ask for. */
export function outputOf(command: Command): Output {
  const flags = command.optsWithGlobals<GlobalFlags>();
  const format = formatOf(flags);
  const asJson = isForPrograms(format);
  const paintOut = paintFor(process.stdout, flags);
  return {
    format,
    asJson,
    paint: paintOut,
    answer: (value, show, ids = []) => {
      if (asJson) {
        return printJson(value);
      }
      return print(format === "id" ? ids.map(endLine).join("") : endLine(show(paintOut)));
    },
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
  return isForPrograms(formatOf(program.opts<GlobalFlags>()));
}

/** What decides about colours. */
export interface ColourQuestion extends GlobalFlags {
  readonly isTty: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Returns true for a person at a terminal who did not turn colours off. */
export function mayColour({ isTty, environment, color, ...flags }: ColourQuestion): boolean {
  const { NO_COLOR = "", CI = "", TERM } = environment;
  return isTty && !isForPrograms(formatOf(flags)) && color !== false && NO_COLOR === "" && CI === "" && TERM !== "dumb";
}

function readFormat(text: string): Format {
  const format = formats.find((each) => each === text);
  if (format === undefined) {
    const nearest = findNearest(text, formats);
    const hint = nearest === undefined ? "" : `\n(Did you mean ${nearest}?)`;
    throw new InvalidArgumentError(`expected ${formats.join(", ")}${hint}`);
  }
  return format;
}

function formatOf({ output, json }: Pick<GlobalFlags, "output" | "json">): Format {
  return output ?? (json === true ? "json" : "table");
}

function isForPrograms(format: Format): boolean {
  return format === "json" || format === "jsonl";
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
