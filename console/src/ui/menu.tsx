// A small pane below its button. It closes with Escape, and when a person goes elsewhere.

import { type ReactNode, useEffect, useRef } from "react";
import { Icon, type IconName } from "./icon.tsx";

export function Menu({
  title,
  icon,
  children,
}: {
  readonly title: string;
  readonly icon: IconName;
  readonly children: ReactNode;
}) {
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeElsewhere = ({ target }: Event): void => {
      if (element.current?.contains(target as Node) === false) {
        element.current.open = false;
      }
    };
    document.addEventListener("pointerdown", closeElsewhere);
    document.addEventListener("focusin", closeElsewhere);
    return () => {
      document.removeEventListener("pointerdown", closeElsewhere);
      document.removeEventListener("focusin", closeElsewhere);
    };
  }, []);
  return (
    <details
      ref={element}
      className="menu"
      onKeyDown={({ key, currentTarget }) => {
        if (key === "Escape") {
          currentTarget.open = false;
          currentTarget.querySelector("summary")?.focus();
        }
      }}
    >
      <summary className="button">
        <Icon name={icon} />
        {title}
      </summary>
      <div className="menu-body">{children}</div>
    </details>
  );
}
