// Bars with a mark at their target, as an SVG that is readable on light and dark backgrounds. Pure.

export interface BarChart {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as people write it. */
  readonly text: string;
  /** The position of the mark; undefined without a target. */
  readonly bound: number | undefined;
  /** A bare limit is paler; a miss has another colour. */
  readonly kind: "bare" | "reached" | "missed" | "plain";
}

export function drawBarChart({ title, bars }: BarChart): string {
  const most = Math.max(...bars.flatMap(({ value, bound = 0 }) => [value, bound]), Number.MIN_VALUE);
  const height = headHeight + bars.length * rowHeight + footHeight;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${style}</style>`,
    `<text class="title" x="0" y="18">${escapeXml(title)}</text>`,
    ...bars.flatMap((bar, index) => drawBar(bar, headHeight + index * rowHeight, most)),
    "</svg>\n",
  ].join("\n");
}

const width = 760;
const headHeight = 34;
const rowHeight = 24;
const footHeight = 6;
const barHeight = 14;
/** Labels to the left of it, bars to the right, their figures behind the bars. */
const barLeft = 230;
const barRoom = 440;

// The colours of text are between light and dark, for viewers that do not say which they use.
const style = `
text{font:12px system-ui,sans-serif;fill:#57606a}
.title{font-weight:600;font-size:14px}
.bare{fill:#8c959f;fill-opacity:.45}.plain{fill:#4184c4}.reached{fill:#2f9e63}.missed{fill:#d4772c}
.mark{stroke:#57606a;stroke-width:2}
@media (prefers-color-scheme:dark){text{fill:#c9d1d9}.mark{stroke:#c9d1d9}}
`;

function drawBar({ label, value, text, bound, kind }: Bar, top: number, most: number): string[] {
  const scale = (amount: number): number => Math.round((Math.max(amount, 0) / most) * barRoom * 10) / 10;
  const length = Math.max(scale(value), 1);
  const middle = top + barHeight / 2 + 4;
  const markAt = bound === undefined ? undefined : barLeft + scale(bound);
  const textAt = barLeft + Math.max(length, markAt === undefined ? 0 : markAt - barLeft) + 8;
  return [
    `<text x="${barLeft - 10}" y="${middle}" text-anchor="end">${escapeXml(label)}</text>`,
    `<rect class="${kind}" x="${barLeft}" y="${top}" width="${length}" height="${barHeight}" rx="2"/>`,
    ...(markAt === undefined
      ? []
      : [`<line class="mark" x1="${markAt}" y1="${top - 3}" x2="${markAt}" y2="${top + barHeight + 3}"/>`]),
    `<text x="${textAt}" y="${middle}">${escapeXml(text)}</text>`,
  ];
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
