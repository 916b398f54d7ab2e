// The completion script of fish: one line for each word, bound to its place.

import { type CompletionOption, type CompletionPlace, commandPaths } from "./words.ts";

/** Writes the script. */
export function writeFish(places: readonly CompletionPlace[]): string {
  return [
    "# Completion of runnel for fish: runnel completion fish | source",
    "function __runnel_is_at",
    "    set -l words (commandline -opc)",
    "    set -e words[1]",
    "    set -l place /",
    "    for word in $words",
    "        set -l next (string trim --left --chars=/ -- $place/$word)",
    `        if contains -- /$next ${commandPaths(places).join(" ")}`,
    "            set place /$next",
    "        end",
    "    end",
    "    test $place = $argv[1]",
    "end",
    "complete -c runnel -f",
    ...places.flatMap(placeLines),
    "",
  ].join("\n");
}

function placeLines({ path, commands, options }: CompletionPlace): string[] {
  const offer = `complete -c runnel -n '__runnel_is_at ${path || "/"}'`;
  return [
    ...commands.map(({ name, about }) => `${offer} -a ${name} -d ${quoteText(about)}`),
    ...options.map((option) => `${offer} ${showOption(option)}`),
  ];
}

function showOption({ names, about, takesValue }: CompletionOption): string {
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  // A value may be a file.
  return [...flags, ...(takesValue ? ["-r", "-F"] : []), "-d", quoteText(about)].join(" ");
}

function quoteText(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
