// A service that trusts a signer, and JobSpecs that are signed for it as users do it.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { testDatabase } from "../harness/database.ts";
import { type ServiceProcess, startProcess } from "../harness/process.ts";
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
  readonly service: ServiceProcess;
  /** Runs a command in the folder. The service has its default address there. */
  readonly runnel: (...words: string[]) => Promise<Outcome>;
  readonly start: (...words: string[]) => RunningCommand;
  readonly put: (name: string, content: string | Uint8Array) => Promise<string>;
  readonly read: (name: string) => Promise<string>;
  /** Signs a spec with these changes, writes it to a file, and returns the path. */
  readonly sign: (name: string, changes?: object) => Promise<string>;
  readonly restart: () => Promise<void>;
}

const keyFile = "portal.pem";

export async function setSignedStage(settings: Record<string, string> = {}): Promise<SignedStage> {
  const folder = await ownFolder();
  const made = await runCommand(["keys", "new", "--out", keyFile, "--json"], { directory: folder });
  const serviceEnvironment = {
    DATABASE_URL: await testDatabase(),
    TRUSTED_KEYS_JSON: JSON.stringify([JSON.parse(made.stdout).trusted_key]),
    ...settings,
  };
  const service = await startProcess(serviceEnvironment);
  const { port } = new URL(service.url);
  const environment = { RUNNEL_SERVER_PORT: port };
  const place: CommandPlace = { directory: folder, environment };
  const put = async (name: string, content: string | Uint8Array): Promise<string> => {
    await writeFile(join(folder, name), content);
    return name;
  };
  return {
    folder,
    environment,
    service,
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
    restart: async () => {
      await startProcess({ ...serviceEnvironment, RUNNEL_SERVER_PORT: port });
    },
  };
}

/** A spec for the demo model, which answers at once; `sign` adds time and nonce. */
export function specOf(changes: object = {}): object {
  const { metadata: _, ...spec } = jobSpecOf({ questions: ["What is 2 + 2? pace=0 words=20"] });
  return { ...spec, ...changes };
}
