// Runners: the lists, one runner, or one binding, as the address says.

import { OneBinding } from "./one-binding.tsx";
import { OneRunner } from "./one-runner.tsx";
import { RunnerLists } from "./runner-lists.tsx";

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function RunnersView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const { runnerId, bindingId } = params;
  if (bindingId !== undefined) {
    const id = decodePart(bindingId);
    return <OneBinding key={id} bindingId={id} />;
  }
  if (runnerId !== undefined) {
    const id = decodePart(runnerId);
    return <OneRunner key={id} runnerId={id} />;
  }
  return <RunnerLists />;
}

/** The router leaves `/` and `:` encoded. A text that is not encoded correctly stays as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
