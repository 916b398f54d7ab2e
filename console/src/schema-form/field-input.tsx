// One field of a form by a schema.

import { useId } from "react";
import { readJson } from "../lib/free-json.ts";
import { visibleText } from "../lib/visible-text.ts";
import type { Field } from "./fields.ts";

export function FieldInput({
  field,
  text,
  problem,
  onChange,
}: {
  readonly field: Field;
  readonly text: string;
  readonly problem: string | undefined;
  readonly onChange: (text: string) => void;
}) {
  const id = useId();
  const { label, kind, type, description, isRequired, choices } = field;
  const common = {
    ...{ id, value: text, required: isRequired && kind !== "text", spellCheck: false },
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}about`,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange(currentTarget.value),
  };
  if (kind === "choices") {
    return <Choices field={field} text={text} onChange={onChange} />;
  }
  return (
    <div className="field">
      <label htmlFor={id}>
        <bdi>{visibleText(label)}</bdi>
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

/** The text is a list as JSON. */
function Choices({
  field: { label, description, choices },
  text,
  onChange,
}: {
  readonly field: Field;
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const given = readJson(text);
  const chosen = Array.isArray(given) ? given.map((value) => JSON.stringify(value)) : [];
  const change = (json: string, isChosen: boolean): void => {
    const next = Object.values(choices).filter((each) => (each === json ? isChosen : chosen.includes(each)));
    onChange(`[${next.join(",")}]`);
  };
  return (
    <fieldset className="field">
      <legend>{visibleText(label)}</legend>
      {Object.entries(choices).map(([words, json]) => (
        <label key={json} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(json)}
            onChange={({ currentTarget }) => change(json, currentTarget.checked)}
          />
          {visibleText(words)}
        </label>
      ))}
      {description !== "" && (
        <p className="hint" dir="auto">
          {visibleText(description)}
        </p>
      )}
    </fieldset>
  );
}
