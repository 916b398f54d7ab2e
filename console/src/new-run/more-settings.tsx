// The settings of a new run that few runs need, folded. A problem stands at its field.

import { useId } from "react";
import { Icon } from "../ui/icon.tsx";
import { Chips } from "./chips.tsx";
import type { Draft } from "./draft.ts";
import { askingOf, type Problems } from "./settings.ts";

interface FormProps {
  readonly draft: Draft;
  readonly problems: Problems;
  readonly onChange: (change: Partial<Draft>) => void;
}

const formats = { text: "text", json: "a JSON object", schema: "JSON of a schema" } as const satisfies Record<
  Draft["format"],
  string
>;

export function MoreSettings(form: FormProps) {
  const { draft, onChange } = form;
  const id = useId();
  const isFormat = (value: string): value is Draft["format"] => value in formats;
  return (
    <details className="fold">
      <summary>
        <Icon name="chevron" />
        More settings
      </summary>
      <div className="fold-body">
        {draft.tools.length > 0 && (
          <Chips
            legend="Ask a person before each call of"
            choices={draft.tools}
            chosen={askingOf(draft)}
            onChange={(approve) => onChange({ approve })}
          />
        )}
        <div className="field-row">
          <TextField {...form} name="maxTurns" label="Maximum turns" placeholder="default" />
          <TextField {...form} name="maxTokens" label="Maximum tokens of one answer" placeholder="default" />
          <TextField {...form} name="temperature" label="Temperature" placeholder="the provider's" />
        </div>
        <div className="field-row">
          <TextField {...form} name="budgetTokens" label="Budget in tokens" placeholder="no limit" />
          <TextField {...form} name="budgetUsd" label="Budget in US dollars" placeholder="no limit" />
        </div>
        <div className="field">
          <label htmlFor={`${id}format`}>Answer</label>
          <select
            id={`${id}format`}
            className="input"
            value={draft.format}
            onChange={({ currentTarget: { value } }) => isFormat(value) && onChange({ format: value })}
          >
            {Object.entries(formats).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </div>
        {draft.format === "schema" && (
          <TextField
            {...form}
            name="schema"
            label="JSON Schema of the answer"
            rows={5}
            placeholder='{"type": "object"}'
          />
        )}
        <TextField {...form} name="startTime" label="Start at" type="datetime-local" />
        <TextField {...form} name="annotations" label="Annotations" rows={2} placeholder='{"team": "billing"}' />
      </div>
    </details>
  );
}

function TextField({
  draft,
  problems,
  onChange,
  name,
  label,
  rows,
  ...rest
}: FormProps & {
  readonly name: Exclude<keyof Problems, "format">;
  readonly label: string;
  /** The lines of a text of several; unset means a field of one line. */
  readonly rows?: number;
  readonly placeholder?: string;
  readonly type?: "datetime-local";
}) {
  const id = useId();
  const problem = problems[name];
  const common = {
    id,
    value: draft[name],
    autoComplete: "off",
    spellCheck: false,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}problem`,
    ...rest,
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...common} className="input" onInput={(event) => onChange({ [name]: event.currentTarget.value })} />
      ) : (
        <textarea
          {...common}
          className="input mono"
          rows={rows}
          onInput={(event) => onChange({ [name]: event.currentTarget.value })}
        />
      )}
      {problem !== undefined && (
        <p id={`${id}problem`} className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
