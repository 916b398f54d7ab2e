// A service that trusts a signer, and JobSpecs that are signed for it as users do it.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Config } from "../../src/platform/config/keys.ts";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { startService, type TestService } from "../harness/service.ts";
import { specOf as jobSpecOf } from "../jobs/stage.ts";
import {
  type CommandPlace,
  type Outcome,
  ownFolder,
  type RunningCommand,
  runCommand,
  startCommand,
} from "./command.ts";

export interface SignedStage {
  readonly folder: string;
  readonly environment: Record<string, string>;
  readonly service: TestService;
  /** Runs a command in the folder. The service has its default address there. */
  readonly runnel: (...words: string[]) => Promise<Outcome>;
  readonly start: (...words: string[]) => RunningCommand;
  readonly put: (name: string, content: string | Uint8Array) => Promise<string>;
  readonly read: (name: string) => Promise<string>;
  /** Signs a spec with these changes, writes it to a file, and returns the path. */
  readonly sign: (name: string, changes?: object) => Promise<string>;
}

const keyFile = "portal.pem";

export async function setSignedStage(flags: Partial<Config> = {}): Promise<SignedStage> {
  const { folder, trustKeysJson } = await makeKey();
  const service = await startService({ trustKeysJson, ...flags });
  return { service, ...commandsIn(folder, service.url) };
}

/** The same with a service in a process of its own, which dies and starts again on its port and database. */
export async function setMortalStage() {
  const { folder, trustKeysJson } = await makeKey();
  const environment = { DATABASE_URL: await testDatabase(), TRUSTED_KEYS_JSON: trustKeysJson };
  const service = await startProcess(environment);
  const restart = async (): Promise<void> => {
    await startProcess({ ...environment, RUNNEL_SERVER_PORT: new URL(service.url).port });
  };
  return { kill: service.kill, restart, ...commandsIn(folder, service.url) };
}

async function makeKey(): Promise<{ folder: string; trustKeysJson: string }> {
  const folder = await ownFolder();
  const made = await runCommand(["keys", "new", "--out", keyFile, "--json"], { directory: folder });
  return { folder, trustKeysJson: JSON.stringify([JSON.parse(made.stdout).trusted_key]) };
}

function commandsIn(folder: string, url: string): Omit<SignedStage, "service"> {
  const environment = { RUNNEL_SERVER_PORT: new URL(url).port };
  const place: CommandPlace = { directory: folder, environment };
  const put = async (name: string, content: string | Uint8Array): Promise<string> => {
    await writeFile(join(folder, name), content);
    return name;
  };
  return {
    folder,
    environment,
    runnel: (...words) => runCommand(words, place),
    start: (...words) => startCommand(words, place),
    put,
    read: (name) => readFile(join(folder, name), "utf8"),
    sign: async (name, changes = {}) => {
      const input = JSON.stringify(specOf(changes), null, 2);
      const signed = await runCommand(["sign", "--key", keyFile, "--stamp"], { ...place, input });
      expect(signed).toMatchObject({ code: 0, stderr: "" });
      return await put(name, signed.stdout);
    },
  };
}

/** A spec for the demo model, which answers at once; `sign` adds time and nonce. */
export function specOf(changes: object = {}): object {
  const { metadata: _, ...spec } = jobSpecOf({ questions: ["What is 2 + 2? pace=0 words=20"] });
  return { ...spec, ...changes };
}
