// What a person can do with the marked runs of the list.

import { Link } from "wouter";
import { formatCount } from "../lib/format.ts";
import { Icon } from "../ui/icon.tsx";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function MarkedActions({ marked }: { readonly marked: readonly string[] }) {
  const [a = "", b] = marked;
  return (
    <>
      {marked.length <= 2 && (
        <Link href={`/compare?${new URLSearchParams({ a, ...(b !== undefined && { b }) })}`} className="button">
          <Icon name="swap" />
          {b === undefined ? "Compare with another" : "Compare the two"}
        </Link>
      )}
      <Link href={`/evaluate?${new URLSearchParams({ runs: marked.join(",") })}`} className="button">
        <Icon name="again" />
        Evaluate {formatCount(marked.length)}
      </Link>
    </>
  );
}
