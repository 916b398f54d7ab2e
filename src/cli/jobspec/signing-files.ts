// What the signing commands read, and what they say of a file that is not what it should be.

import { JsonTextError } from "../../platform/base/json/text.ts";
import { type ReadDocument, readDocument } from "../../protocols/jobspec/spec/json.ts";
import { KeyFault } from "../../protocols/jobspec/spec/key-file.ts";
import { SpecFault } from "../../protocols/jobspec/spec/spec-fault.ts";
import { type OpenedSpec, openWrapper } from "../../protocols/jobspec/spec/wrapper.ts";
import { CommandError } from "../command-error.ts";
import { nameOf, readInput, specBytesMax } from "../input.ts";

/** No key is near it. */
const keyBytesMax = 65_536;

export async function readJsonFile(path: string): Promise<ReadDocument> {
  return readJson(path, await readInput(path, specBytesMax));
}

/** What was read from there. */
export function readJson(path: string, bytes: Uint8Array): ReadDocument {
  return explainFaults(path, () => readDocument(bytes));
}

/** A spec by itself, or in what it is sent in. */
export function openSpec(path: string, document: ReadDocument): OpenedSpec {
  return explainFaults(path, () => openWrapper(document));
}

export async function readKey<Key>(path: string, read: (file: Uint8Array) => Key): Promise<Key> {
  const bytes = await readInput(path, keyBytesMax);
  return explainFaults(path, () => read(bytes));
}

export function explainFaults<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof JsonTextError) {
      const what = `${nameOf(path)} is no JSON that can be signed: ${error.message}`;
      throw new CommandError(what, { reason: "INVALID_JSON", cause: error });
    }
    if (error instanceof SpecFault) {
      throw new CommandError(`${nameOf(path)}: ${error.message}`, { reason: "INVALID_JOBSPEC", cause: error });
    }
    if (error instanceof KeyFault) {
      throw new CommandError(`${nameOf(path)} ${error.message}`, { reason: "INVALID_KEY", fix: keyFix, cause: error });
    }
    throw error;
  }
}

const keyFix = "`runnel keys new --out <file>` makes a key pair";
