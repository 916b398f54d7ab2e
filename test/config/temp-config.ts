// An empty folder to start in, an empty home, and the settings that are read there.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test as base, expect } from "vitest";
import { settings } from "../../src/app/settings.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { readConfig, readServeConfig } from "../../src/platform/config/load.ts";
import type { ConfigSources } from "../../src/platform/config/resolve.ts";
import { openFolder } from "../fixtures.ts";
import { faultOf } from "../harness/fault-of.ts";

export interface TempConfig {
  readonly sources: ConfigSources;
  /** Writes a file below the folder and returns its path. */
  write(name: string, text: string | Buffer, mode?: number): Promise<string>;
}

export async function makeTempConfig(environment: Readonly<Record<string, string>> = {}): Promise<TempConfig> {
  const root = await openFolder();
  const directory = join(root, "here");
  await mkdir(directory);
  return {
    sources: { table: settings, environment, directory, home: join(root, "home") },
    write: async (name, text, mode = 0o600) => {
      const path = join(directory, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { mode });
      return path;
    },
  };
}

export const test = base.extend("temp", () => makeTempConfig());

/** Reads the settings of a YAML text, without any other source. */
export async function readYamlConfig(text: string): Promise<Config> {
  const temp = await makeTempConfig();
  await temp.write("config.yaml", text);
  return readConfig(temp.sources);
}

/** Returns the message that refuses these settings. */
export function refusalOf(sources: ConfigSources, read: typeof readConfig = readConfig): string {
  const { reason, message } = faultOf(() => read(sources));
  expect(reason).toBe("CONFIG_INVALID");
  return message;
}

/** Returns the message that refuses a YAML text, without the file's name. */
export async function yamlRefusal(text: string): Promise<string> {
  const temp = await makeTempConfig();
  const path = await temp.write("config.yaml", text);
  return refusalOf(temp.sources).replaceAll(`${path}:`, "");
}

export function serveRefusal(sources: ConfigSources): string {
  return refusalOf(sources, readServeConfig);
}
