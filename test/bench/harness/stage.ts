// What benches run on: one Postgres and one provider for the whole stage, and services that start and stop.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgram } from "../../../scripts/build-program.ts";
import { repositoryRoot, runCommand } from "../../../scripts/run-command.ts";
import { formatConnectionString } from "../../../src/platform/database/embedded/login.ts";
import { type Child, startChild } from "./child.ts";
import { type Home, makeHome, type OpenHome, openHome } from "./home.ts";
import { Keeper } from "./keeper.ts";
import { type Service, startService } from "./service.ts";

export interface Stage {
  readonly quick: boolean;
  readonly home: OpenHome;
  readonly provider: Child;
  /**
   * Starts a service process of its own, so that no variant profits from the warm code or the memory of another. It uses the
   * stage's home by default.
   */
  startService(
    name: string,
    options?: {
      readonly home?: Home;
      readonly processes?: number;
      readonly slots?: number;
      readonly console?: boolean;
      readonly keepsRows?: boolean;
    },
  ): Promise<Service>;
  /** Starts the host of a tool, which is an MCP server too. */
  startToolHost(): Promise<Child>;
  /** Starts servers that only answer: what Node itself costs for the same bytes. */
  startBareServer(): Promise<BareServer>;
  /** Starts the least that a durable service of the Agent Runner document could be. */
  startBareAgentRunner(): Promise<Child>;
  /** Fetches this version of DBOS with npm, once, and starts the same service on it. */
  startDbosRunner(version: string): Promise<Child>;
  /** Makes a home of its own, whose Postgres does not run yet. */
  makeHome(): Promise<Home>;
  openHome(): Promise<OpenHome>;
}

export interface BareServer extends Child {
  /** host:port of its HTTP/2. */
  readonly target: string;
}

export interface StageOptions {
  readonly quick: boolean;
  readonly profileDirectory: string | undefined;
}

export async function openStage(options: StageOptions): Promise<Stage & AsyncDisposable> {
  const { quick, profileDirectory: directory } = options;
  await using keeper = new Keeper();
  const { program } = await keeper.keep(buildForBenches);
  let dbos: Promise<{ readonly folder: string }> | undefined;
  const home = await keeper.keep(openHome);
  const provider = await keeper.keep(startProvider);
  const kept = keeper.move();
  return {
    quick,
    home,
    provider,
    startService: (name, choice = {}) => {
      const profile = directory === undefined ? {} : { profile: { directory, name } };
      return kept.keep(() => startService({ program, home, providerUrl: provider.url, ...profile, ...choice }));
    },
    startToolHost: () => kept.keep(startToolHost),
    startBareServer: () => kept.keep(startBareServer),
    startBareAgentRunner: () => kept.keep(() => startBareAgentRunner(home, provider.url)),
    startDbosRunner: async (version) => {
      dbos ??= kept.keep(() => fetchDbos(version));
      const { folder } = await dbos;
      return await kept.keep(() => startDbosRunner(folder, home, provider.url));
    },
    makeHome: () => kept.keep(makeHome),
    openHome: () => kept.keep(openHome),
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  };
}

/** Builds the program in a folder of this process. */
async function buildForBenches(): Promise<AsyncDisposable & { readonly program: string }> {
  const folder = join(repositoryRoot, "dist-tests", String(process.pid));
  const program = await buildProgram(folder);
  return { program, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

function startProvider(): Promise<Child> {
  return startChild({ program: new URL("provider.ts", import.meta.url), announcement: /provider on (http:\/\/\S+)/ });
}

function startToolHost(): Promise<Child> {
  return startChild({ program: new URL("tool-host.ts", import.meta.url), announcement: /tools on (http:\/\/\S+)/ });
}

function startBareAgentRunner({ login }: OpenHome, providerUrl: string): Promise<Child> {
  return startChild({
    program: new URL("../bare/agent-runner.ts", import.meta.url),
    environment: {
      PGHOST: login.host,
      PGPORT: String(login.port),
      PGUSER: login.user,
      PGPASSWORD: login.password,
      PGDATABASE: login.database,
      OPENAI_BASE_URL: `${providerUrl}/v1`,
    },
    announcement: /bare on (http:\/\/\S+)/,
  });
}

/** The package is no dependency of the project: it goes into a folder that ends with the bench. */
async function fetchDbos(version: string): Promise<AsyncDisposable & { readonly folder: string }> {
  const root = await mkdtemp(join(tmpdir(), "runnel-dbos-"));
  await runCommand("npm", ["install", "--prefix", root, "--no-audit", "--no-fund", `@dbos-inc/dbos-sdk@${version}`]);
  const folder = join(root, "node_modules", "@dbos-inc", "dbos-sdk");
  return { folder, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}

function startDbosRunner(folder: string, { login }: OpenHome, providerUrl: string): Promise<Child> {
  return startChild({
    program: new URL("../bare/dbos-runner.ts", import.meta.url),
    environment: {
      DBOS_SDK: folder,
      DBOS_URL: formatConnectionString(login),
      OPENAI_BASE_URL: `${providerUrl}/v1`,
    },
    announcement: /dbos on (http:\/\/\S+)/,
  });
}

export async function startBareServer(): Promise<BareServer> {
  const program = new URL("../bare/server.ts", import.meta.url);
  const child = await startChild({ program, announcement: /bare on (http:\/\/\S+)/ });
  // The second address is in the fragment of the first one.
  const { origin, hash } = new URL(child.url);
  return { ...child, url: origin, target: hash.slice(1) };
}
