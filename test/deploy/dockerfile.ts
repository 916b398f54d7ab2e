// The Dockerfile, as its parser reads it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Dockerfile, DockerfileParser, type Instruction } from "dockerfile-ast";
import { repositoryRoot } from "../../scripts/run-command.ts";

export const dockerfileText: string = readFileSync(join(repositoryRoot, "Dockerfile"), "utf8");

export interface Stage {
  /** Undefined for the last stage, which is the image. */
  readonly name: string | undefined;
  readonly image: string;
  readonly steps: readonly Instruction[];
}

const dockerfile: Dockerfile = DockerfileParser.parse(dockerfileText);

export const stages: readonly Stage[] = dockerfile.getFROMs().map((from, index, froms) => {
  const next = froms[index + 1]?.getRange().start.line ?? Number.POSITIVE_INFINITY;
  const isWithin = (step: Instruction): boolean =>
    step.getRange().start.line > from.getRange().start.line && step.getRange().start.line < next;
  return {
    name: from.getBuildStage() ?? undefined,
    image: from.getImage() ?? "",
    steps: dockerfile.getInstructions().filter(isWithin),
  };
});

export function findStage(name: string | undefined): Stage {
  const stage = stages.find((each) => each.name === name);
  if (stage === undefined) {
    throw new Error(`the Dockerfile has no stage ${name}`);
  }
  return stage;
}

/** Returns the words after the keyword of the only step of its kind in the image. */
export function wordsOfImage(keyword: string): string {
  const steps = stepsOf(findStage(undefined), keyword);
  const [step] = steps;
  if (step === undefined || steps.length > 1) {
    throw new Error(`the image has ${steps.length} of ${keyword}`);
  }
  return wordsOf(step);
}

export function stepsOf({ steps }: Stage, keyword: string): readonly Instruction[] {
  return steps.filter((step) => step.getKeyword() === keyword);
}

/** Returns the words after the keyword, with continued lines joined as a shell joins them. */
export function wordsOf(step: Instruction): string {
  const { start, end } = step.getRange();
  const lines = dockerfileText.split("\n").slice(start.line, end.line + 1);
  return lines
    .join("\n")
    .slice(step.getKeyword().length)
    .replaceAll(/\\\n\s*/g, "")
    .trim();
}

/** Returns the command of the image's ENTRYPOINT, CMD or HEALTHCHECK. Any form but the exec form would run it in a shell. */
export function commandOf(keyword: string): readonly string[] {
  const words = wordsOfImage(keyword);
  const command: unknown = JSON.parse(words.slice(words.indexOf("[")));
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string")) {
    throw new Error(`not in exec form: ${words}`);
  }
  return command;
}

/** Returns the variables that the image sets. */
export function environmentOfImage(): Record<string, string> {
  return Object.fromEntries(
    stepsOf(findStage(undefined), "ENV").flatMap((step) =>
      wordsOf(step)
        .split(/\s+/)
        .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    ),
  );
}
