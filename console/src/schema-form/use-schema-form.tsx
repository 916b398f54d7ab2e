// The state of a form by a schema: its fields, or the same values as JSON.

import { type ReactNode, useState } from "react";
import { readJson } from "../lib/free-json.ts";
import { FieldInput } from "./field-input.tsx";
import { type Field, type FieldTexts, fieldsOf, initialTexts, textsOf, valuesOf } from "./fields.ts";

export interface SchemaForm {
  /** The fields. */
  readonly fields: ReactNode;
  /** The button that changes between fields and JSON; nothing for a schema without fields. */
  readonly change: ReactNode;
  /** Returns the values as JSON. Shows the problems and returns undefined when there are some. */
  readonly read: () => string | undefined;
}

/** The values as JSON, when a person writes them so, or when the schema has no fields to show. */
type Written = { readonly json: string } | undefined;

/** `what` names the values for people, such as `Arguments`. */
export function useSchemaForm(schema: string, what: string): SchemaForm {
  const fields = fieldsOf(schema);
  const [texts, setTexts] = useState(() => initialTexts(fields ?? []));
  const [written, setWritten] = useState<Written>(fields === undefined ? { json: "{}" } : undefined);
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const read = (): string | undefined => {
    const given = written === undefined ? valuesOf(fields ?? [], texts) : readWritten(what, written.json);
    setProblems(given.problems);
    return given.problems.size === 0 ? given.json : undefined;
  };
  const change = (): void => {
    setProblems(new Map());
    if (written === undefined) {
      setWritten({ json: valuesOf(fields ?? [], texts).json });
      return;
    }
    const shown = textsOf(fields ?? [], written.json);
    if (shown === undefined) {
      setProblems(new Map([[what, "The fields cannot show this: write an object with the members of the schema."]]));
      return;
    }
    setTexts(shown);
    setWritten(undefined);
  };
  const jsonField: Field = {
    ...{ name: what, label: what, kind: "json", type: "object", description: "", isRequired: false },
    ...{ choices: {}, initial: "" },
  };
  return {
    read,
    fields:
      written === undefined ? (
        <Fields
          what={what}
          fields={fields ?? []}
          texts={texts}
          problems={problems}
          onChange={(name, text) => setTexts((before) => ({ ...before, [name]: text }))}
        />
      ) : (
        <FieldInput
          field={jsonField}
          text={written.json}
          problem={problems.get(what)}
          onChange={(json) => setWritten({ json })}
        />
      ),
    change: fields !== undefined && (
      <button type="button" className="button quiet" onClick={change}>
        {written === undefined ? "Write JSON" : "Show fields"}
      </button>
    ),
  };
}

function Fields({
  what,
  fields,
  texts,
  problems,
  onChange,
}: {
  readonly what: string;
  readonly fields: readonly Field[];
  readonly texts: FieldTexts;
  readonly problems: ReadonlyMap<string, string>;
  readonly onChange: (name: string, text: string) => void;
}) {
  return fields.length === 0 ? (
    <p className="hint">The schema names no {what.toLowerCase()}.</p>
  ) : (
    fields.map((field) => (
      <FieldInput
        key={field.name}
        field={field}
        text={texts[field.name] ?? ""}
        problem={problems.get(field.name)}
        onChange={(text) => onChange(field.name, text)}
      />
    ))
  );
}

function readWritten(what: string, json: string): ReturnType<typeof valuesOf> {
  const value = readJson(json);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return { json, problems: new Map(isObject ? [] : [[what, "This is no JSON object."]]) };
}
