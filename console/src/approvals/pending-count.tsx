// How many approvals wait: beside the view's name in the navigation, and in the title of the page.

import { useEffect } from "react";
import { useChanges } from "../lib/changes.ts";
import { formatCount } from "../lib/format.ts";
import { setTitleCount } from "../lib/title.ts";
import { approvalChanges, isPending } from "./approval-changes.ts";

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function PendingCount() {
  const { items } = useChanges(approvalChanges);
  const count = [...items.values()].filter(isPending).length;
  useEffect(() => setTitleCount(count), [count]);
  return count === 0 ? null : (
    <span className="count">
      {formatCount(count)}
      <span className="unseen"> waiting</span>
    </span>
  );
}
