// Tabs with the panel of the chosen one. The arrow keys move between them.

import { type ReactNode, useId } from "react";

export function Tabs<Name extends string>({
  label,
  tabs,
  chosen,
  onChoose,
  panelClass,
  children,
}: {
  readonly label: string;
  /** The words of the tabs by their names, in their order. */
  readonly tabs: Readonly<Partial<Record<Name, string>>>;
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
  readonly panelClass?: string;
  /** The panel. */
  readonly children: ReactNode;
}) {
  const id = useId();
  const names = Object.keys(tabs) as Name[];
  const move = (step: number): void => {
    const next = names[(names.indexOf(chosen) + step + names.length) % names.length];
    if (next !== undefined) {
      onChoose(next);
      document.getElementById(id + next)?.focus();
    }
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={id + name}
            aria-selected={name === chosen}
            aria-controls={`${id}panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
            onKeyDown={({ key }) => {
              if (key === "ArrowRight" || key === "ArrowLeft") {
                move(key === "ArrowRight" ? 1 : -1);
              }
            }}
          >
            {tabs[name]}
          </button>
        ))}
      </div>
      <div className={panelClass} role="tabpanel" id={`${id}panel`} aria-labelledby={id + chosen}>
        {children}
      </div>
    </>
  );
}
