// Loads the trusted keys of the settings: a text and a file, which together are one list.
// C1  Any error in either makes the whole list invalid. The message says where the error is.

import { readText } from "../../../platform/config/file.ts";
import type { Config } from "../../../platform/config/keys.ts";
import { describeError, invalidConfig, type Problem } from "../../../platform/config/problem.ts";
import { parseTrustList, type TrustedKey } from "../verification/trust-list.ts";

/** The maximum size of the file: thousands of keys. */
const listBytesMax = 1_048_576;

/** The settings that hold trusted keys. */
export type TrustSettings = Pick<Config, "trustKeysJson" | "trustKeysFile">;

/** Returns the keys of the settings. Throws CONFIG_INVALID. */
export function loadConfiguredKeys(settings: TrustSettings): readonly TrustedKey[] {
  try {
    return readConfiguredKeys(settings);
  } catch (error) {
    throw invalidConfig([problemOf(error)]);
  }
}

/** Returns the problems that `loadConfiguredKeys` would throw. */
export function findKeyProblems(settings: TrustSettings): readonly Problem[] {
  try {
    readConfiguredKeys(settings);
    return [];
  } catch (error) {
    return [problemOf(error)];
  }
}

function problemOf(error: unknown): Problem {
  const text = describeError(error);
  return { field: text.slice(0, text.indexOf(" ")), text };
}

/** Returns the keys of the settings. Throws an Error whose message begins with the setting. */
export function readConfiguredKeys({ trustKeysJson, trustKeysFile }: TrustSettings): readonly TrustedKey[] {
  const inText = trustKeysJson === "" ? [] : parse("trust.keys_json", trustKeysJson);
  const inFile = trustKeysFile === "" ? [] : parse(`trust.keys_file (${trustKeysFile})`, open(trustKeysFile));
  refuseTwice(inText, inFile);
  return [...inText, ...inFile];
}

function open(path: string): string {
  try {
    return readText(path, listBytesMax);
  } catch (error) {
    const problem = `trust.keys_file cannot be read: ${describeError(error)}`;
    throw new Error(`${problem}: name a file with a JSON array of keys that the service may read`);
  }
}

function parse(label: string, json: string): TrustedKey[] {
  try {
    return parseTrustList(json);
  } catch (error) {
    throw new Error(`${label} is not a valid trust list: ${describeError(error)}`);
  }
}

function refuseTwice(inText: readonly TrustedKey[], inFile: readonly TrustedKey[]): void {
  const names = new Set(inText.map(({ kid }) => kid));
  const bytes = new Set(inText.map(({ publicKey }) => Buffer.from(publicKey).toString("hex")));
  const twice = inFile.find(
    ({ kid, publicKey }) => names.has(kid) || bytes.has(Buffer.from(publicKey).toString("hex")),
  );
  if (twice !== undefined) {
    const what = names.has(twice.kid) ? "kid" : "public_key of kid";
    throw new Error(`trust.keys_file and trust.keys_json both have the ${what} "${twice.kid}": remove one of them`);
  }
}
