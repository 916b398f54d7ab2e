// The completion script of bash. It finds its place by the words before the cursor and offers commands and options. For a value
// it offers files.

import { type CompletionPlace, commandPaths, valueOptions } from "./words.ts";

/** Writes the script. */
export function writeBash(places: readonly CompletionPlace[]): string {
  return `# Completion of runnel for bash: source <(runnel completion bash)
_runnel() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} place= word words= values=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place/$word" in
      ${commandPaths(places).join("|")}) place=$place/$word ;;
    esac
  done
  case "$place" in
${places.map(placeCase).join("\n")}
  esac
  COMPREPLY=()
  case " $values " in
    *" $previous "*) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _runnel runnel
`;
}

function placeCase(place: CompletionPlace): string {
  const names = [...place.commands.map(({ name }) => name), ...place.options.flatMap((option) => option.names)];
  return `    '${place.path}') words='${names.join(" ")}' values='${valueOptions(place).join(" ")}' ;;`;
}
