// The choice of the columns of the list. This browser remembers it.

import { runColumns } from "../lib/preferences.ts";
import { useStore } from "../lib/store.ts";
import { Menu } from "../ui/menu.tsx";
import { offeredColumns, useLayout } from "./columns.ts";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function ColumnsMenu() {
  const { shown } = useLayout();
  const isChosen = useStore(runColumns) !== undefined;
  return (
    <Menu title="Columns" icon="columns">
      <fieldset>
        <legend className="unseen">Columns</legend>
        {offeredColumns.map((name) => {
          const isShown = shown.includes(name);
          return (
            <label key={name} className="check">
              <input
                type="checkbox"
                checked={isShown}
                onChange={() =>
                  runColumns.set(offeredColumns.filter((each) => (each === name) !== shown.includes(each)))
                }
              />
              {name}
            </label>
          );
        })}
      </fieldset>
      <button type="button" className="button" disabled={!isChosen} onClick={() => runColumns.set(undefined)}>
        As the screen allows
      </button>
    </Menu>
  );
}
