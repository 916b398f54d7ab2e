// The compose file, its override for the jail, and the stack of Swarm: valid, closed by default, and consistent with the
// settings and the image.

import { join } from "node:path";
import { DCLinter } from "dclint";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import {
  composePath,
  jailOverlayPath,
  readCompose,
  readText,
  secondsOf,
  secretVariables,
  servedPort,
  serviceOf,
  stackPath,
  stopSecondsOf,
  unknownVariables,
} from "./deployed.ts";
import { wordsOfImage } from "./dockerfile.ts";

const rules = {
  // An image that is built gets a name; otherwise it would have the name of its folder.
  "no-build-and-image": 0,
  // The rule does not see an address that comes from a variable.
  "no-unbound-port-interfaces": 0,
  "require-quotes-in-ports": 0,
  // An override and a stack get their project name elsewhere.
  "require-project-name-field": 0,
  // Keys are grouped by their subject.
  "service-keys-order": 0,
  "services-alphabetical-order": 0,
} as const;

/** The linter declares this type where the compiler does not find it. */
interface Linted {
  readonly messages: readonly { readonly line: number; readonly message: string }[];
}

const deployed = [composePath, stackPath];

test.each([...deployed, jailOverlayPath])("%s is accepted by the engine's schema and the linter", (path) => {
  const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] });
  const results: readonly Linted[] = linter.lintFiles([join(repositoryRoot, path)], false);
  expect(results.flatMap(({ messages }) => messages.map(({ line, message }) => `${line}: ${message}`))).toEqual([]);
  expect(results).toHaveLength(1);
});

test.each(deployed)("%s names known settings, and secrets only by files", (path) => {
  const file = readCompose(path);
  const { environment = {}, secrets = [] } = serviceOf(file);
  expect(unknownVariables(Object.keys(environment))).toEqual([]);
  expect(secretVariables(Object.keys(environment))).toEqual([]);
  const files = Object.values(environment).filter((value) => value.startsWith("/run/secrets/"));
  expect(files.sort()).toEqual(secrets.map((name) => `/run/secrets/${name}`).sort());
  expect(Object.keys(file.secrets ?? {})).toEqual(expect.arrayContaining([...secrets]));
});

test.each(deployed)("%s gives a stop enough time, and publishes the port of the settings", (path) => {
  const { environment = {}, stop_grace_period, ports = [] } = serviceOf(readCompose(path));
  expect(secondsOf(stop_grace_period)).toBeGreaterThan(stopSecondsOf(environment));
  expect(ports.map((port) => port.split(":").at(-1))).toEqual([String(servedPort)]);
});

test.each(deployed)("%s gives the service a read-only root, the image's volume, and no capabilities", (path) => {
  const { read_only, cap_drop, volumes = [], tmpfs = [], user } = serviceOf(readCompose(path));
  expect({ read_only, cap_drop, user }).toEqual({ read_only: true, cap_drop: ["ALL"], user: undefined });
  const writable = [
    ...volumes.map((volume) => (typeof volume === "string" ? volume.split(":").at(-1) : volume.target)),
    ...tmpfs.map((mount) => mount.split(":")[0]),
  ];
  expect(writable.sort()).toEqual(["/tmp", wordsOfImage("VOLUME")]);
});

test("by default the engine's confinement is complete; the exceptions for the jail are in a file of their own", () => {
  const file = readCompose(composePath);
  for (const name of Object.keys(file.services)) {
    expect(serviceOf(file, name).security_opt, name).toEqual(["no-new-privileges:true"]);
  }
  expect(serviceOf(readCompose(jailOverlayPath)).security_opt).toEqual([
    "seccomp=unconfined",
    "apparmor=unconfined",
    "systempaths=unconfined",
  ]);
});

test("the service waits until Postgres is ready, which never runs as root and is not reachable from outside", () => {
  const file = readCompose(composePath);
  expect(serviceOf(file).depends_on).toEqual({ postgres: { condition: "service_healthy" } });
  const postgres = serviceOf(file, "postgres");
  expect(postgres.healthcheck?.test.join(" ")).toContain("pg_isready");
  expect(postgres).toMatchObject({ user: "postgres", read_only: true, cap_drop: ["ALL"] });
  expect(postgres.ports).toBeUndefined();
  expect(postgres.image).toMatch(/^postgres:17\b/);
});

test("the stack has the secrets that the Agent Runner document names", () => {
  const documented = ["anthropic_key", "gemini_key", "hmac_secret", "openai_key"];
  expect(Object.keys(readCompose(stackPath).secrets ?? {})).toEqual(expect.arrayContaining(documented));
  for (const secret of documented) {
    expect(readText("docs/deployment.md")).toContain(`docker secret create ${secret} -`);
  }
});
