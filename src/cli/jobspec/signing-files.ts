// Reads the files of the signing commands, and explains invalid ones.

import { JsonTextError } from "../../platform/base/json/text.ts";
import { type ReadDocument, readDocument } from "../../protocols/jobspec/verification/json.ts";
import { KeyFault } from "../../protocols/jobspec/verification/key-file.ts";
import { SpecFault } from "../../protocols/jobspec/verification/spec-fault.ts";
import { type OpenedSpec, openWrapper } from "../../protocols/jobspec/verification/wrapper.ts";
import { CommandError } from "../command-error.ts";
import { nameOf, readInput, specBytesMax } from "../input.ts";

/** The maximum size of a key file: no key is near it. */
const keyBytesMax = 65_536;

/** Reads a JSON object from a file. Throws a `CommandError`. */
export async function readJsonFile(path: string): Promise<ReadDocument> {
  return readJson(path, await readInput(path, specBytesMax));
}

/** Reads a JSON object from bytes; `path` names their file in errors. Throws a `CommandError`. */
export function readJson(path: string, bytes: Uint8Array): ReadDocument {
  return explainFaults(path, () => readDocument(bytes));
}

/** Opens a spec, by itself or in its wrapper. Throws a `CommandError`. */
export function openSpec(path: string, document: ReadDocument): OpenedSpec {
  return explainFaults(path, () => openWrapper(document));
}

/** Reads a key from a file. Throws a `CommandError`. */
export async function readKey<Key>(path: string, read: (file: Uint8Array) => Key): Promise<Key> {
  const bytes = await readInput(path, keyBytesMax);
  return explainFaults(path, () => read(bytes));
}

/** Does the work; a fault of JSON, spec or key becomes a `CommandError` that names the file. */
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
