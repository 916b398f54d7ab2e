// The stage of the recipes: the real service behind a scripted model, with credentials, and the programs as processes of their own.

import { join } from "node:path";
import { repositoryRoot } from "../../scripts/run-command.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { modelFlags } from "../conformance/stage.ts";
import { type Running, startProgram } from "../external/program.ts";
import type { FakeProvider } from "../fakes/provider.ts";
import { openProvider } from "../fixtures.ts";
import { keyOf } from "../harness/credentials.ts";
import { startService, type TestService } from "../harness/service.ts";

export interface RecipeStage {
  readonly provider: FakeProvider;
  readonly service: TestService;
  /** Starts a program of `examples/recipes`. It is killed with the test. */
  start(program: string, args?: readonly string[], options?: StartOptions): Running;
}

interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
}

export const recipesFolder: string = join(repositoryRoot, "examples/recipes");

/** `python` runs the programs in Python. */
export async function setRecipeStage(flags: Partial<Config> = {}, python = ""): Promise<RecipeStage> {
  const provider = await openProvider();
  const service = await startService({ ...modelFlags(provider), securityAllowPrivateNetworks: true, ...flags });
  const known = { RUNNEL_URL: service.url, RUNNEL_API_KEY: keyOf() };
  return {
    provider,
    service,
    start: (program, args = [], { environment = {}, input } = {}) => {
      const file = join(recipesFolder, program);
      const [command, options, own] = program.endsWith(".py")
        ? [python, [], { PYTHONPATH: join(repositoryRoot, "clients/python"), PYTHONDONTWRITEBYTECODE: "1" }]
        : [process.execPath, ["--import", join(import.meta.dirname, "own-client.js")], {}];
      return startProgram(command, [...options, file, ...args], {
        environment: { ...known, ...own, ...environment },
        ...(input !== undefined && { input }),
      });
    },
  };
}
