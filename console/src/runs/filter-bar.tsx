// The controls of the filter. Each change is written to the address.

import { type FormEvent, type RefObject, useId, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { stateNames } from "../../../src/platform/run-view/state-names.ts";
import { withParameter } from "../lib/parameters.ts";
import { Icon } from "../ui/icon.tsx";
import { offeredStates, spans, type TextField, textFields, timeIn } from "./runs-filter.ts";

export function FilterBar({ search }: { readonly search: RefObject<HTMLInputElement | null> }) {
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
      <TimeFilter />
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

const ownSpan = "own";

/** A span that ends now, or one with a beginning and an end, of which one may be open. */
function TimeFilter() {
  const id = useId();
  const [parameters, setParameters] = useSearchParams();
  const [isOpen, setOpen] = useState(false);
  const hasOwn = parameters.has("from") || parameters.has("to") || (isOpen && !parameters.has("since"));
  const change = (changes: Readonly<Record<string, string>>): void =>
    setParameters(
      (current) => Object.entries(changes).reduce((next, [name, value]) => withParameter(next, name, value), current),
      {
        replace: true,
      },
    );
  return (
    <>
      <label className="unseen" htmlFor={`${id}since`}>
        Time
      </label>
      <select
        id={`${id}since`}
        className="input"
        value={hasOwn ? ownSpan : (parameters.get("since") ?? "")}
        onChange={({ currentTarget: { value } }) => {
          setOpen(value === ownSpan);
          change({ since: value === ownSpan ? "" : value, ...(value !== ownSpan && { from: "", to: "", time: "" }) });
        }}
      >
        <option value="">any time</option>
        {Object.keys(spans).map((span) => (
          <option key={span} value={span}>
            last {span}
          </option>
        ))}
        <option value={ownSpan}>from … to …</option>
      </select>
      {hasOwn && (
        <fieldset className="own-span">
          <legend className="unseen">From … to …</legend>
          <select
            className="input"
            aria-label="Which time"
            value={parameters.get("time") ?? ""}
            onChange={(event) => change({ time: event.currentTarget.value })}
          >
            <option value="">created</option>
            <option value="changed">last changed</option>
          </select>
          {(["from", "to"] as const).map((name) => (
            <label key={name}>
              {name}{" "}
              <input
                type="datetime-local"
                step="1"
                className="input"
                value={toLocal(timeIn(parameters, name))}
                onChange={({ currentTarget: { value } }) => {
                  // The fields stay when a person empties the last one.
                  setOpen(true);
                  change({ [name]: toAddress(value) });
                }}
              />
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
}

/** Returns a time as the field takes it, in the time zone of the browser. Example: `2026-11-21T14:05:00`. */
function toLocal(ms: number | undefined): string {
  return ms === undefined ? "" : new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function toAddress(local: string): string {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
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
  const [field, setField] = useState<TextField>("words");
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
        placeholder="press / to search"
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
