// Tabs: which of several things a panel shows. The arrow keys move between them.

/** The panel of the tabs has the id `<id>-panel`, and the tab of a name has `<id>-<name>`. */
export function Tabs<Name extends string>({
  id,
  label,
  titles,
  offered,
  shown,
  onShow,
}: {
  readonly id: string;
  readonly label: string;
  readonly titles: Readonly<Record<Name, string>>;
  readonly offered: readonly Name[];
  readonly shown: Name;
  readonly onShow: (name: Name) => void;
}) {
  return (
    <div className="tabs" role="tablist" aria-label={label}>
      {offered.map((name, index) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${id}-${name}`}
          aria-selected={name === shown}
          aria-controls={`${id}-panel`}
          tabIndex={name === shown ? 0 : -1}
          onClick={() => onShow(name)}
          onKeyDown={({ key }) => {
            const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
            const next = offered[(index + step + offered.length) % offered.length];
            if (step !== 0 && next !== undefined) {
              onShow(next);
              document.getElementById(`${id}-${next}`)?.focus();
            }
          }}
        >
          {titles[name]}
        </button>
      ))}
    </div>
  );
}
