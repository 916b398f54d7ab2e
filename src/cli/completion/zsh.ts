// The completion script of zsh, for a file `_runnel` in $fpath, or to be sourced. It offers words with their descriptions.

import { type CompletionPlace, commandPaths, valueOptions } from "./words.ts";

/** Writes the script. */
export function writeZsh(places: readonly CompletionPlace[]): string {
  return `#compdef runnel
# Completion of runnel for zsh: source <(runnel completion zsh), after compinit
_runnel() {
  local place= word
  local -a commands options values
  for word in \${words[2,CURRENT-1]}; do
    case "$place/$word" in
      ${commandPaths(places).join("|")}) place=$place/$word ;;
    esac
  done
  case "$place" in
${places.map(placeCase).join("\n")}
  esac
  if (( \${values[(Ie)\${words[CURRENT-1]}]} )); then
    _files
    return
  fi
  _describe -t commands command commands
  _describe -o -t options option options
}
if [[ "\${funcstack[1]}" == _runnel ]]; then
  _runnel "$@"
else
  compdef _runnel runnel
fi
`;
}

function placeCase(place: CompletionPlace): string {
  const commands = place.commands.map(({ name, about }) => offer(name, about));
  const options = place.options.flatMap(({ names, about }) => names.map((name) => offer(name, about)));
  return `    '${place.path}')
      commands=(${commands.join(" ")})
      options=(${options.join(" ")})
      values=(${valueOptions(place).join(" ")}) ;;`;
}

/** Joins a word and its description by a colon. Our words hold no colon, so the first one separates them. */
function offer(name: string, about: string): string {
  return `'${`${name}:${about}`.replaceAll("'", "'\\''")}'`;
}
