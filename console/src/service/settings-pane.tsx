// All settings of the replica that answers, with the origin of each. Secrets arrive as set or unset only.

import { useQuery } from "@connectrpc/connect-query";
import { useRef } from "react";
import { type Setting, SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { AdminFailure, adminQuery } from "../frame/admin-gate.tsx";
import { formatCount } from "../lib/format.ts";
import { useParameter } from "../lib/parameters.ts";
import { useRowKeys } from "../lib/rows.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Markdown } from "../ui/markdown.tsx";
import { Loading } from "../ui/notice.tsx";
import { TableHead } from "../ui/table-head.tsx";

export function SettingsPane() {
  const { data, error, refetch } = useQuery(SystemService.method.listSettings, {}, adminQuery);
  const [text] = useParameter("q");
  const [changed] = useParameter("changed");
  if (data === undefined) {
    return error === null ? (
      <Loading what="the settings" />
    ) : (
      <AdminFailure error={error} onRetry={() => void refetch()} />
    );
  }
  const shown = data.settings.filter((setting) => isChanged(setting) || changed === "").filter(matcherOf(text));
  return (
    <>
      <FilterBar shown={shown.length} all={data.settings.length} />
      {shown.length === 0 ? <p className="hint">No setting matches this filter.</p> : <Table settings={shown} />}
    </>
  );
}

function isChanged({ origin }: Setting): boolean {
  return origin !== "default";
}

/** Compares all texts that a person may know of a setting. */
function matcherOf(text: string): (setting: Setting) => boolean {
  const wanted = text.trim().toLowerCase();
  return ({ key, value, origin, about, variables }) =>
    [key, value, origin, about, ...variables].some((each) => each.toLowerCase().includes(wanted));
}

function FilterBar({ shown, all }: { readonly shown: number; readonly all: number }) {
  const [text, setText] = useParameter("q");
  const [changed, setChanged] = useParameter("changed");
  const search = useRef<HTMLInputElement>(null);
  useShortcuts({ "/": () => search.current?.focus() });
  return (
    <search className="filter" aria-label="Filter settings">
      <input
        ref={search}
        type="search"
        className="input"
        aria-label="Text in a setting"
        placeholder="press / to filter"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.currentTarget.blur();
          }
        }}
      />
      <label className="chip">
        <input
          type="checkbox"
          checked={changed !== ""}
          onChange={(event) => setChanged(event.currentTarget.checked ? "yes" : "")}
        />
        changed only
      </label>
      <span className="hint" role="status">
        {formatCount(shown)} of {formatCount(all)} settings
      </span>
    </search>
  );
}

function Table({ settings }: { readonly settings: readonly Setting[] }) {
  const [opened, setOpened] = useParameter("setting");
  const rows = useRowKeys<HTMLTableElement>();
  const sections = Map.groupBy(settings, ({ key }) => key.split(".", 1)[0] ?? "");
  return (
    <table ref={rows} className="rows settings">
      <caption className="unseen">Settings</caption>
      <TableHead names={["Setting", "Value", "Default", "Origin"]} />
      {[...sections].map(([section, those]) => (
        <tbody key={section}>
          <tr className="section">
            <th scope="rowgroup" colSpan={4}>
              {section}
            </th>
          </tr>
          {those.map((setting) => (
            <Row
              key={setting.key}
              setting={setting}
              isOpen={setting.key === opened}
              onToggle={() => setOpened(setting.key === opened ? "" : setting.key)}
            />
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Row({
  setting,
  isOpen,
  onToggle,
}: {
  readonly setting: Setting;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  const { key, value, defaultValue, origin, about, variables, isSecret } = setting;
  return (
    <>
      <tr data-changed={isChanged(setting) || undefined} data-open={isOpen || undefined}>
        <th scope="row">
          <button type="button" className="link mono" data-row aria-expanded={isOpen} onClick={onToggle}>
            {key}
          </button>
        </th>
        <td className="mono" data-name="value">
          <span>{shown(value)}</span>
        </td>
        <td className="mono" data-name="default">
          <span>{shown(defaultValue)}</span>
        </td>
        <td data-name="origin">{visibleText(origin)}</td>
      </tr>
      {isOpen && (
        <tr className="about">
          <td colSpan={4}>
            <Markdown text={about} />
            <p className="hint">
              Set <code>{key}</code> in the file of settings, or{" "}
              {variables.map((name, index) => (
                <span key={name}>
                  {index > 0 && " or "}
                  <code>{name}</code>
                </span>
              ))}{" "}
              in the environment, and start the service again.
              {isSecret && " The value is secret: the service shows only whether it is set."}
            </p>
          </td>
        </tr>
      )}
    </>
  );
}

function shown(value: string): string {
  return value === "" ? "–" : visibleText(value);
}
