// The controls of the filter. Each change is written to the address.

import { type FormEvent, type RefObject, useId, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { withParameter } from "../lib/parameters.ts";
import { Icon } from "../ui/icon.tsx";
import { stateNames } from "../ui/state-label.tsx";
import { offeredStates, spans, type TextField, textFields } from "./runs-filter.ts";

export function FilterBar({ search }: { readonly search: RefObject<HTMLInputElement | null> }) {
  const id = useId();
  const [parameters, setParameters] = useSearchParams();
  const named = new Set((parameters.get("state") ?? "").split(",").filter((name) => name !== ""));
  const change = (name: string, value: string): void =>
    setParameters((current) => withParameter(current, name, value), { replace: true });
  const toggle = (name: string): void => {
    const next = new Set(named);
    if (!next.delete(name)) {
      next.add(name);
    }
    change("state", [...next].join(","));
  };
  return (
    <search className="filter" aria-label="Filter runs">
      <fieldset className="chips">
        <legend className="unseen">States</legend>
        {offeredStates.map((state) => (
          <label key={state} className="chip" data-state={stateNames[state]}>
            <input type="checkbox" checked={named.has(stateNames[state])} onChange={() => toggle(stateNames[state])} />
            {stateNames[state]}
          </label>
        ))}
      </fieldset>
      <label className="unseen" htmlFor={`${id}since`}>
        Started
      </label>
      <select
        id={`${id}since`}
        className="input"
        value={parameters.get("since") ?? ""}
        onChange={(event) => change("since", event.currentTarget.value)}
      >
        <option value="">any time</option>
        {Object.keys(spans).map((span) => (
          <option key={span} value={span}>
            last {span}
          </option>
        ))}
      </select>
      <TextFilter search={search} onAdd={change} />
      {(Object.keys(textFields) as TextField[])
        .filter((field) => parameters.has(field))
        .map((field) => (
          <button key={field} type="button" className="chip set" onClick={() => change(field, "")}>
            {field}: <b>{parameters.get(field)}</b>
            <Icon name="close" />
            <span className="unseen">remove this filter</span>
          </button>
        ))}
      {parameters.size > 0 && (
        <Link href="/runs" className="clear">
          Clear
        </Link>
      )}
    </search>
  );
}

/** One field for all texts: choose what it is compared with, type, press Enter. */
function TextFilter({
  search,
  onAdd,
}: {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onAdd: (field: string, value: string) => void;
}) {
  const id = useId();
  const [field, setField] = useState<TextField>("error");
  const [text, setText] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onAdd(field, text.trim());
    setText("");
  };
  return (
    <form className="text-filter" onSubmit={submit}>
      <label className="unseen" htmlFor={`${id}field`}>
        Filter by
      </label>
      <select
        id={`${id}field`}
        className="input"
        value={field}
        onChange={(event) => setField(event.currentTarget.value as TextField)}
      >
        {Object.entries(textFields).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      <label className="unseen" htmlFor={`${id}text`}>
        {textFields[field]}
      </label>
      <input
        ref={search}
        id={`${id}text`}
        className="input"
        value={text}
        placeholder="press / to filter"
        autoComplete="off"
        spellCheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.currentTarget.blur();
          }
        }}
      />
    </form>
  );
}
