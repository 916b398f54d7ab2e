// The systemd unit: it agrees with the settings and the image, and removes nothing that the jail of bash needs. What the jail
// needs was found by covering one thing after another: docs/deployment.md.

import { expect, test } from "vitest";
import { readText, secondsOf, secretVariables, stopSecondsOf, unknownVariables } from "./deployed.ts";
import { commandOf, environmentOfImage, wordsOfImage } from "./dockerfile.ts";

const unit = readText("deploy/systemd/runnel.service")
  .split("\n")
  .filter((line) => /^[A-Z]\w*=/.test(line))
  .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);

function valuesOf(name: string): string[] {
  return unit.filter(([each]) => each === name).map(([, value]) => value);
}

const environment = Object.fromEntries(
  valuesOf("Environment").map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)] as const),
);

test("it starts the image's command in the image's directory, as an ordinary user", () => {
  expect(valuesOf("ExecStart")).toEqual([`/usr/bin/${commandOf("ENTRYPOINT").slice(2).join(" ")} ${commandOf("CMD")}`]);
  expect(valuesOf("WorkingDirectory")).toEqual([wordsOfImage("WORKDIR")]);
  expect(valuesOf("StateDirectory").map((name) => `/var/lib/${name}`)).toEqual([wordsOfImage("VOLUME")]);
  expect(environment).toMatchObject(environmentOfImage());
  expect(valuesOf("User")).toEqual(["runnel"]);
});

test("it names known settings, and secrets only as credentials", () => {
  const names = Object.keys(environment).filter((name) => name.startsWith("RUNNEL_"));
  expect(unknownVariables(names)).toEqual([]);
  expect(secretVariables(names)).toEqual([]);
  const credentials = valuesOf("LoadCredential").map((each) => each.split(":")[0]);
  const read = Object.values(environment).filter((value) => value.startsWith("%d/"));
  expect(read.sort()).toEqual(credentials.map((name) => `%d/${name}`).sort());
});

test("a stop has enough time, and SIGTERM goes to the service alone", () => {
  expect(secondsOf(valuesOf("TimeoutStopSec")[0])).toBeGreaterThan(stopSecondsOf(environment));
  expect(valuesOf("KillMode")).toEqual(["mixed"]);
});

test("it is confined, except for the features that a jail needs", () => {
  const names = unit.map(([name]) => name);
  for (const wall of ["NoNewPrivileges", "ProtectSystem", "ProtectHome", "PrivateTmp", "PrivateDevices"]) {
    expect(names).toContain(wall);
  }
  const needed = [
    "RestrictNamespaces",
    "ProtectKernelTunables",
    "ProtectKernelLogs",
    "ProcSubset",
    "ProtectHostname",
    "MemoryDenyWriteExecute",
  ];
  expect(names.filter((name) => needed.includes(name))).toEqual([]);
  const [families, calls] = ["RestrictAddressFamilies", "SystemCallFilter"].map((name) =>
    valuesOf(name)[0]?.split(" "),
  );
  expect(families).toContain("AF_NETLINK");
  expect(calls).toEqual(expect.arrayContaining(["@mount", "seccomp", "sethostname"]));
});
