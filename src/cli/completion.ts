// `runnel completion`: prints a completion script for a shell, made from the commands of this program.

import { Argument, type Command } from "commander";
import { writeBash } from "./completion/bash.ts";
import { writeFish } from "./completion/fish.ts";
import { type CompletionPlace, listPlaces } from "./completion/words.ts";
import { writeZsh } from "./completion/zsh.ts";
import { example } from "./example.ts";
import { outputOf } from "./output.ts";

const writers: Readonly<Record<string, (places: readonly CompletionPlace[]) => string>> = {
  bash: writeBash,
  zsh: writeZsh,
  fish: writeFish,
};

/** Defines `completion`. `defineAll` defines all other commands of the program. */
export function defineCompletion(command: Command, defineAll: () => Promise<Command>): void {
  command
    .addHelpText("after", example("source <(runnel completion bash)"))
    .addArgument(new Argument("<shell>", "the shell that will read it").choices(Object.keys(writers)))
    .action(async (shell: string) => {
      const script = writers[shell]?.(listPlaces(await defineAll())) ?? "";
      await outputOf(command).answer({ shell, script }, () => script);
    });
}
