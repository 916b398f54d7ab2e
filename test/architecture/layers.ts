// The layers of src/, lowest first, and the check whether one file may import another. The table is the architecture; a change
// here changes the design.

import { posix } from "node:path";

/**
 * Every folder with files of its own, by row. A folder may import the rows above its own; folders in one row do not import each
 * other. A name that ends in `/*` is a row of siblings: each folder in it is one component, and siblings do not import each other.
 */
const layers: readonly (readonly string[])[] = [
  ["gen"],
  ["platform/base"],
  ["platform/config", "platform/telemetry", "platform/run-view"],
  ["platform/database"],
  ["platform/auth", "platform/egress"],
  ["platform/context"],
  ["engine/storage", "engine/hash-chain"],
  ["engine/log"],
  ["engine/approvals", "engine/memory", "engine/receipts", "engine/sessions"],
  ["engine/runs"],
  ["engine/callbacks", "engine/search"],
  ["agent/models", "agent/tools"],
  ["agent/budget", "agent/model-calls", "agent/skills"],
  ["agent/response"],
  ["agent/loop"],
  ["agent/replay"],
  ["api"],
  ["protocols/*"],
  ["surfaces/*"],
  ["app"],
  ["cli"],
  ["binary", "main"],
];

/** Narrower than their row: surfaces are made from descriptors, and commands call the service as clients do. */
const narrow: readonly (readonly [source: string, targets: readonly string[]])[] = [
  ["surfaces/http", ["gen", "platform/"]],
  ["surfaces/", ["gen", "platform/base", "surfaces/"]],
  ["cli", ["gen", "platform/base", "platform/run-view"]],
];

/**
 * The commands that start the server instead of calling one, those that inspect its host and its database, the replay of runs, which
 * is the agent loop itself, and the test of an MCP server, which lists tools as the loop does.
 */
const serverStarters: readonly string[] = [
  "cli/serve.ts",
  "cli/log-lines.ts",
  "cli/dev.ts",
  "cli/dev/",
  "cli/migrate.ts",
  "cli/config.ts",
  "cli/doctor.ts",
  "cli/doctor/",
  "cli/exchange/local-service.ts",
  "cli/record.ts",
  "cli/mcp/test-server.ts",
];

/** The commands that make, write and check signed texts without a server, and the code they share with it. */
const offlineCommands: readonly (readonly [targets: readonly string[], files: readonly string[]])[] = [
  [
    ["protocols/jobspec"],
    ["cli/jobspec/key-pairs.ts", "cli/jobspec/sign.ts", "cli/jobspec/signing-files.ts", "cli/jobspec/verify.ts"],
  ],
  [
    ["engine/receipts", "engine/hash-chain"],
    ["cli/receipt.ts", "cli/verify/receipt.ts", "cli/verify/receipt-finding.ts"],
  ],
];

/** The layer of a file in src/: its row's folder, or the name of a file that is directly in src/. */
export function layerOf(path: string): string {
  const [first = "", second = ""] = path.replace(/\.ts$/, "").split("/");
  return layers.some((row) => row.some((name) => name.startsWith(`${first}/`))) ? `${first}/${second}` : first;
}

export function isKnownLayer(layer: string): boolean {
  return rowOf(layer) !== -1;
}

/** The layer that an import of `path` points to; undefined for packages and for Node itself. */
export function importedLayer(path: string, specifier: string): string | undefined {
  if (specifier.startsWith("#gen/")) {
    return "gen";
  }
  if (!specifier.startsWith(".")) {
    return undefined;
  }
  return layerOf(posix.join(posix.dirname(path), specifier));
}

/** Why `path` may not import from `target`; undefined when it may. */
export function refuseImport(path: string, target: string): string | undefined {
  const source = layerOf(path);
  if (source === target) {
    return undefined;
  }
  const [, targets = undefined] = narrow.find(([prefix]) => source.startsWith(prefix)) ?? [];
  if (targets !== undefined && !targets.some((each) => target.startsWith(each)) && !isFree(path, target)) {
    return `${source} may import ${targets.join(", ")} only, not ${target}`;
  }
  const isDown = rowOf(target) < rowOf(source) && isKnownLayer(target);
  const isSibling = source.startsWith("surfaces/") && target.startsWith("surfaces/");
  return isDown || isSibling ? undefined : `${source} may not import ${target}: imports go down the layers`;
}

function isFree(path: string, target: string): boolean {
  return (
    isOneOf(path, serverStarters) ||
    offlineCommands.some(([targets, files]) => targets.includes(target) && isOneOf(path, files))
  );
}

/** A name that ends in / matches every file in that folder. */
function isOneOf(path: string, names: readonly string[]): boolean {
  return names.some((each) => path === each || (each.endsWith("/") && path.startsWith(each)));
}

/** -1 for an unknown layer, and for a path that leaves src/. */
function rowOf(layer: string): number {
  const siblings = layer.replace(/\/.*$/, "/*");
  return layers.findIndex((row) => row.includes(layer) || row.includes(siblings));
}
