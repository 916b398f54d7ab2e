// The content of the image, read from the Dockerfile: it is valid, pinned, small, and runs as an unprivileged user.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { keys } from "../../src/platform/config/keys.ts";
import {
  commandOf,
  dockerfileText,
  environmentOfImage,
  findStage,
  stages,
  stepsOf,
  wordsOf,
  wordsOfImage,
} from "./dockerfile.ts";

const readHere = (path: string): string => readFileSync(join(repositoryRoot, path), "utf8");

test("a builder accepts it without a warning", () => {
  expect(validate(dockerfileText)).toEqual([]);
  expect(validate("FROM node\nCOPI a b\n")).not.toEqual([]);
});

test("it starts from the Node version of the tests, named in full", () => {
  const named = new Set(stages.map(({ name }) => name));
  const images = stages.map(({ image }) => image).filter((image) => !named.has(image));
  expect(images).toEqual([`node:${process.versions.node}-bookworm-slim`]);
});

test("packages come from the lock file, without their scripts, and only the program gets into the image", () => {
  const installs = stages
    .flatMap((stage) => stepsOf(stage, "RUN").map(wordsOf))
    .filter((words) => /\bnpm\b/.test(words));
  expect(installs).toEqual(["npm ci --ignore-scripts --no-audit --no-fund"]);
  expect(stepsOf(findStage("app"), "COPY").map(wordsOf)).toEqual([
    "--from=build /build/dist ./dist",
    "package.json LICENSE ./",
    "migrations ./migrations",
    "--from=build /build/console/dist ./console/dist",
  ]);
  expect(stepsOf(findStage(undefined), "COPY").map(wordsOf)).toEqual(["--from=app /opt/runnel /opt/runnel"]);
});

test("nothing is added from a URL, and the builder gets only copied files", () => {
  expect(stages.flatMap((stage) => stepsOf(stage, "ADD"))).toEqual([]);
  const copied = ["build", "app"]
    .flatMap((name) => stepsOf(findStage(name), "COPY").map(wordsOf))
    .filter((words) => !words.startsWith("--from="))
    .flatMap((words) => words.split(/\s+/).slice(0, -1));
  const [first, ...sent] = readHere(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(first).toBe("*");
  expect(sent.sort()).toEqual([...new Set(copied)].map((path) => `!${path}`).sort());
});

test("it runs as an ordinary user, behind an init, and stops on SIGTERM", () => {
  expect(wordsOfImage("USER")).toBe("65532:65532");
  expect(commandOf("ENTRYPOINT").slice(0, 2)).toEqual(["tini", "--"]);
  expect(commandOf("CMD")).toEqual(["serve"]);
  expect(wordsOfImage("STOPSIGNAL")).toBe("SIGTERM");
  expect(wordsOfImage("HEALTHCHECK")).toContain("/livez");
  expect(commandOf("HEALTHCHECK")[0]).toBe("node");
  const installed = stepsOf(findStage(undefined), "RUN").map(wordsOf).join("\n");
  expect(["bash", "bubblewrap", "tini"].filter((name) => !new RegExp(` ${name} `).test(installed))).toEqual([]);
});

test("it writes only to its volume, serves the port of the settings, and sets known settings without secrets", () => {
  expect(wordsOfImage("VOLUME")).toBe(wordsOfImage("WORKDIR"));
  expect(wordsOfImage("EXPOSE")).toBe(String(keys.serverPort.fallback));
  const environment = environmentOfImage();
  expect(environment[keys.sessionsWorkRoot.variables[0]]).toBe(`${wordsOfImage("VOLUME")}/work`);
  // Each client has its own: clients of one service need not trust each other.
  const listed = environment[keys.sessionsWorkDirs.variables[0]] ?? "";
  expect(listed).toBe(`${wordsOfImage("VOLUME")}/projects/{client}`);
  expect(keys.sessionsWorkDirs.read(listed)).toEqual([listed]);
  expect(Object.keys(environment).filter((name) => /SECRET|KEY|TOKEN|PASSWORD|DATABASE_URL/.test(name))).toEqual([]);
});

test("its labels are those of the package", () => {
  const labels = stepsOf(findStage(undefined), "LABEL").map(wordsOf).join(" ");
  const { description, license } = JSON.parse(readHere("package.json"));
  expect(labels).toContain(`org.opencontainers.image.description="${description}"`);
  expect(labels).toContain(`org.opencontainers.image.licenses="${license}"`);
});
