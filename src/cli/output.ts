// What commands say, in one way: the answer on standard output, everything else on standard error. With `--json` the
// answer is one JSON document, or one a line for streams, and no progress is shown.

import { styleText } from "node:util";
import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { createProgress, type Progress } from "./progress.ts";
import { markOwn, print, printJson, sayJson, sayLine } from "./terminal.ts";

export type Style = Parameters<typeof styleText>[0];
/** Colours a text, where colours are wanted. */
export type Paint = (style: Style, text: string) => string;

export interface Output {
  readonly asJson: boolean;
  /** Colours a text for standard output. */
  readonly paint: Paint;
  /** The answer of a command: a value for machines, and how people are shown it. */
  answer(value: unknown, show: (paint: Paint) => string): Promise<void>;
  /** One of many answers. Waits while whoever reads them is slow. */
  stream(value: () => unknown, show: (paint: Paint) => string): Promise<void>;
  /** What is good to know besides. A note without a value is for people only. */
  note(text: string, value?: Readonly<Record<string, unknown>>): void;
  /** Tells what takes a while. Whoever opens it closes it before anything else is said. */
  openProgress(): Progress;
}

interface GlobalFlags {
  readonly json?: boolean;
  readonly color?: boolean;
}

/** Every command takes these. */
export function addGlobalFlags(program: Command): Command {
  return program
    .option("--json", "answers, notes and errors as JSON, for machines")
    .option("--no-color", "no colours, also on a terminal");
}

/** The way of speaking that the words of this command line and its environment ask for. */
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

/** The contract's own JSON of an answer. What is 0 or empty is there too: a reader need not know what unset means. */
export function answerJson<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

/** For what is said of failures, where the command itself may not have been understood. */
export function paintErrors(program: Command): Paint {
  return paintFor(process.stderr, program.opts<GlobalFlags>());
}

export function wantsJson(program: Command): boolean {
  return program.opts<GlobalFlags>().json === true;
}

export interface ColourQuestion extends GlobalFlags {
  readonly isTty: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Colours are for a person at a terminal who did not say otherwise. */
export function mayColour({ isTty, environment, json, color }: ColourQuestion): boolean {
  const { NO_COLOR = "", CI = "", TERM } = environment;
  return isTty && json !== true && color !== false && NO_COLOR === "" && CI === "" && TERM !== "dumb";
}

function paintFor(stream: NodeJS.WriteStream, flags: GlobalFlags): Paint {
  const colours = mayColour({ ...flags, isTty: stream.isTTY === true, environment: process.env });
  // The question is answered here, so Node is not asked a second time with other rules.
  return (style, text) => (colours ? markOwn(styleText(style, text, { validateStream: false })) : text);
}

/** A line that is written over needs a terminal that can go back. */
function progressStyle({ CI = "", TERM }: NodeJS.ProcessEnv): "line" | "lines" {
  return process.stderr.isTTY === true && CI === "" && TERM !== "dumb" ? "line" : "lines";
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
