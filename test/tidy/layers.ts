// The layers of src/, lowest first, and the one question asked of them: may this file import that one? The table is the
// architecture; a change here is a change of the design.

import { posix } from "node:path";

/** A folder may import the rows above its own; folders in one row do not know each other. */
export const layers: readonly (readonly string[])[] = [
  ["gen"],
  ["base"],
  ["config", "telemetry"],
  ["storage"],
  ["trust", "egress", "chain", "jobspec", "receipts"],
  ["runlog", "models", "tools"],
  ["sessions"],
  ["runners"],
  ["runs"],
  ["jobs", "callbacks", "exchanges", "host", "forum", "decisions"],
  ["drivers"],
  ["services"],
  ["gateways", "server"],
  ["app"],
  ["cli"],
  ["main"],
];

/** Narrower than their row: both speak to the service through its contract only. */
const contractOnly: readonly string[] = ["gateways", "cli"];
const contractLayers: readonly string[] = ["gen", "base"];

/** The commands that start the server instead of calling one, and those that look at the ground that it stands on. */
const serverStarters: readonly string[] = [
  "cli/serve.ts",
  "cli/log-lines.ts",
  "cli/dev.ts",
  "cli/migrate.ts",
  "cli/config.ts",
  "cli/doctor.ts",
  "cli/doctor/",
  "cli/exchange/local-service.ts",
];

/** The commands that make, write and check what is signed, and what of src/ each of them does it with. */
const offlineCommands: Readonly<Record<string, readonly string[]>> = {
  jobspec: [
    "cli/key-pairs.ts",
    "cli/sign.ts",
    "cli/signing-files.ts",
    "cli/verify/job-spec.ts",
    "cli/verify/receipt-file.ts",
  ],
  receipts: ["cli/receipt.ts", "cli/verify/receipt.ts", "cli/verify/receipt-finding.ts"],
};

/** The layer of a file in src/: its first folder, or the name of a file that lies in src/ itself. */
export function layerOf(path: string): string {
  const [first = ""] = path.split("/");
  return first.replace(/\.ts$/, "");
}

export function isKnownLayer(layer: string): boolean {
  return layers.some((row) => row.includes(layer));
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
  const worksOffline = isOneOf(path, offlineCommands[target] ?? []);
  const isFree = isOneOf(path, serverStarters) || worksOffline;
  if (contractOnly.includes(source) && !isFree && !contractLayers.includes(target)) {
    return `${source} may import ${contractLayers.join(" and ")} only, not ${target}`;
  }
  if (heightOf(target) >= heightOf(source)) {
    return `${source} may not import ${target}: imports go down the layers`;
  }
  return undefined;
}

/** A name that ends in / stands for everything in that folder. */
function isOneOf(path: string, names: readonly string[]): boolean {
  return names.some((each) => path === each || (each.endsWith("/") && path.startsWith(each)));
}

/** An unknown layer, and a path that leaves src/, count as above everything. */
function heightOf(layer: string): number {
  const height = layers.findIndex((row) => row.includes(layer));
  return height === -1 ? layers.length : height;
}
