// The keys of the console, and what its badges mean.

import { shortcutsOn } from "../lib/preferences.ts";
import { useStore } from "../lib/store.ts";
import { Dialog } from "../ui/dialog.tsx";
import { views } from "../views.ts";

const keys: readonly (readonly [key: string, about: string])[] = [
  ...views.flatMap(({ title, navigation }) => (navigation === undefined ? [] : [[navigation.key, title] as const])),
  ["j / k", "next or previous row"],
  ["Enter", "open the row"],
  ["/", "filter or search"],
  ["t / w / e / r", "in a run: transcript, waterfall, entries, tree"],
  ["End", "in a run or a session: follow the end"],
  ["c", "in a session: write a message"],
  ["?", "this help"],
];

const badges = [
  ["live · at 1,204", "the page has every entry up to 1,204, and the next ones arrive by themselves"],
  ["catching up", "stored entries are on their way"],
  ["reconnecting in 2 s", "the connection failed; the page continues after its last entry, so nothing is lost"],
  ["waits for another tab", "more tabs show runs than the browser has connections; it continues by itself"],
  ["paused", "the tab is hidden; it continues where it was when you look"],
  ["ended, complete", "the page has the whole log"],
] as const;

// biome-ignore lint/style/noDefaultExport: `lazy` loads a default export.
export default function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const isOn = useStore(shortcutsOn);
  return (
    <Dialog title="Help" onClose={onClose}>
      <div className="form">
        <dl className="help">
          {keys.map(([key, about]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{about}</dd>
            </div>
          ))}
        </dl>
        <label className="check">
          <input type="checkbox" checked={isOn} onChange={() => shortcutsOn.set(!isOn)} />
          Single keys are shortcuts
        </label>
        <h3>What a run's badge says</h3>
        <dl className="help wide">
          {badges.map(([badge, about]) => (
            <div key={badge}>
              <dt>{badge}</dt>
              <dd>{about}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  );
}
