// One fact within `<dl className="facts">`: its name and its value.

import type { ReactNode } from "react";

/** A fact without a value is left out. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (children === "" || children === false || children === undefined) {
    return null;
  }
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
