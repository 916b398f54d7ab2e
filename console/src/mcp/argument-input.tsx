// One field of the form of a tool.

import { useId } from "react";
import { visibleText } from "../lib/visible-text.ts";
import type { ArgumentField } from "./argument-fields.ts";

export function ArgumentInput({
  field: { name, kind, type, description, isRequired, choices },
  text,
  problem,
  onChange,
}: {
  readonly field: ArgumentField;
  readonly text: string;
  readonly problem: string | undefined;
  readonly onChange: (text: string) => void;
}) {
  const id = useId();
  const common = {
    ...{ id, value: text, required: isRequired && kind !== "text", spellCheck: false },
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}about`,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange(currentTarget.value),
  };
  return (
    <div className="field">
      <label htmlFor={id}>
        <bdi>{visibleText(name)}</bdi>
        {isRequired && " (required)"}
      </label>
      {kind === "choice" ? (
        <select {...common} className="input">
          <option value="">{isRequired ? "choose" : "not set"}</option>
          {Object.entries(choices).map(([words, json]) => (
            <option key={json} value={json}>
              {visibleText(words)}
            </option>
          ))}
        </select>
      ) : kind === "number" ? (
        <input {...common} className="input" type="number" step="any" />
      ) : (
        <textarea {...common} className={kind === "json" ? "input mono" : "input"} rows={kind === "json" ? 3 : 1} />
      )}
      <p className="hint" id={`${id}about`} dir="auto">
        {visibleText(type)}
        {kind === "json" && type !== "JSON" && ", as JSON"}
        {description !== "" && `: ${visibleText(description)}`}
      </p>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
