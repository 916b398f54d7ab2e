// The secrets that docs/deployment.md makes for the compose file are those that the service starts with.

import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolder, runCommand, runShell } from "../cli/command.ts";
import { composePath, readCompose, readText, serviceOf } from "./deployed.ts";

test("the commands of the page make every file that the compose file mounts, and the service accepts them", async () => {
  const [, lines = ""] = /```sh secrets\n([\s\S]*?)```/.exec(readText("docs/deployment.md")) ?? [];
  const directory = await ownFolder();
  expect(await runShell(`set -e\n${lines}`, { directory })).toMatchObject({ code: 0, stderr: "" });

  const file = readCompose(composePath);
  const paths = Object.values(file.secrets ?? {}).map((secret) => secret.file ?? "");
  const listed = await runShell("stat --format=%a:%n secrets ./secrets/*", { directory });
  expect(listed.stdout.trim().split("\n").sort()).toEqual(
    ["700:secrets", ...paths.map((path) => `444:${path}`)].sort(),
  );

  const mounted = Object.entries(serviceOf(file).environment ?? {})
    .filter(([name]) => name.endsWith("_FILE"))
    .map(([name, path]) => [name, path.replace("/run/secrets", join(directory, "secrets"))]);
  const environment = { RUNNEL_AUTH_API_KEYS: "", ...Object.fromEntries(mounted) };
  expect(await runCommand(["config", "check", "--no-config"], { environment, directory })).toMatchObject({
    code: 0,
    stderr: "",
  });
  const explained = await runCommand(["config", "explain", "--no-config", "--json"], { environment, directory });
  const settings = JSON.parse(explained.stdout).settings as readonly { key: string; origin: string }[];
  const read = settings.filter(({ origin }) => origin.includes("_FILE")).map(({ key }) => key);
  expect(read.sort()).toEqual(["auth.hmac_secret", "database.url", "providers.openai_key"]);
});
