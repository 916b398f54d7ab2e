// Several choices of a few, such as tools.

import { visibleText } from "../lib/visible-text.ts";

export function Chips({
  legend,
  choices,
  chosen,
  onChange,
}: {
  readonly legend: string;
  readonly choices: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  const toggle = (choice: string): void =>
    onChange(chosen.includes(choice) ? chosen.filter((each) => each !== choice) : [...chosen, choice]);
  return (
    <fieldset className="chips">
      <legend>{legend}</legend>
      {choices.map((choice) => (
        <label key={choice} className="chip">
          <input type="checkbox" checked={chosen.includes(choice)} onChange={() => toggle(choice)} />
          {visibleText(choice)}
        </label>
      ))}
    </fieldset>
  );
}
