// `runnel keys new` and `runnel keys show`: Ed25519 key pairs that sign JobSpecs. They call no service. A private key is
// printed to the person who asked for it, or written to a file that only its owner can read.

import { writeFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import { isWeak, thumbprint } from "../../platform/base/public-key.ts";
import {
  type FoundKey,
  newKeyPair,
  printPrivateKey,
  readKeyFile,
  readKeyPair,
} from "../../protocols/jobspec/verification/key-file.ts";
import { ownJson } from "../answer-json.ts";
import { CommandError } from "../command-error.ts";
import { example } from "../example.ts";
import { outputOf, type Paint } from "../output.ts";
import { readKey } from "./signing-files.ts";

/** Only the owner may read and write. */
const privateMode = 0o600;

interface NewFlags {
  readonly out?: string;
}

interface ShowFlags {
  readonly as?: "seed" | "public";
}

/** Defines `keys new` and `keys show`. */
export function defineKeyPairs(keys: Command): void {
  addNew(keys);
  addShow(keys);
}

function addNew(keys: Command): void {
  keys
    .command("new")
    .description("make a key pair for signing JobSpecs; works offline")
    .addHelpText("after", example("runnel keys new --out portal.pem"))
    .option("--out <file>", "file for the private key (PKCS#8); unset means standard output")
    .action(async ({ out }: NewFlags, command: Command) => {
      const pair = newKeyPair();
      const privateKey = printPrivateKey(pair);
      const output = outputOf(command);
      const side = publicSide(pair.publicKey);
      if (out === undefined) {
        output.note(showSide(side, (_style, text) => text));
        await output.answer(ownJson({ ...side, privateKey }), () => privateKey);
        return;
      }
      await writeNew(out, privateKey);
      await output.answer(ownJson({ ...side, file: out }), (paint) => showSide(side, paint));
    });
}

function addShow(keys: Command): void {
  keys
    .command("show <file>")
    .description("show the public key of a private or public key; works offline")
    .addHelpText("after", example("runnel keys show portal.pem"))
    .addOption(
      new Option("--as <kind>", "meaning of 32 bytes in base64, which may be either").choices(["seed", "public"]),
    )
    .action(async (file: string, { as }: ShowFlags, command: Command) => {
      const publicKey = publicKeyOf(file, await readKey(file, as === "seed" ? readSeed : readKeyFile), as);
      if (isWeak(publicKey)) {
        throw new CommandError(`${file} is a weak key: one signature fits any text`, { reason: "INVALID_KEY" });
      }
      const side = publicSide(publicKey);
      await outputOf(command).answer(ownJson(side), (paint) => showSide(side, paint));
    });
}

function readSeed(file: Uint8Array): FoundKey {
  return { kind: "pair", pair: readKeyPair(file) };
}

/** Returns the public key. It refuses to guess: a seed shown as a public key would be published, and a public one could sign. */
function publicKeyOf(file: string, found: FoundKey, as: ShowFlags["as"]): Uint8Array {
  switch (found.kind) {
    case "pair":
      return found.pair.publicKey;
    case "public":
      return found.publicKey;
    case "seed or public": {
      if (as === "public") {
        return found.bytes;
      }
      const fix = "add --as seed if it is secret, or --as public";
      const what = `${file} holds 32 bytes, which may be a secret seed or a public key`;
      throw new CommandError(what, { reason: "AMBIGUOUS_KEY", fix, exitCode: 2 });
    }
    default:
      return found satisfies never;
  }
}

/** Writes a new file. It never overwrites one, because that may be the only copy of a key. */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx", mode: privateMode });
  } catch (cause) {
    const exists = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    const why = exists ? "it exists, and keys are never written over" : String(cause);
    const reason = exists ? "FILE_EXISTS" : "FILE_UNWRITABLE";
    throw new CommandError(`cannot write ${path}: ${why}`, { reason, fix: "name another file with --out", cause });
  }
}

interface PublicSide {
  readonly kid: string;
  readonly publicKey: string;
  /** An entry of TRUSTED_KEYS_JSON. */
  readonly trustedKey: { readonly kid: string; readonly public_key: string; readonly status: "active" };
}

function publicSide(raw: Uint8Array): PublicSide {
  const [kid, publicKey] = [thumbprint(raw), Buffer.from(raw).toString("base64")];
  return { kid, publicKey, trustedKey: { kid, public_key: publicKey, status: "active" } };
}

function showSide({ kid, publicKey, trustedKey }: PublicSide, paint: Paint): string {
  return [
    `${paint("bold", "kid")}         ${kid}`,
    `${paint("bold", "public key")}  ${publicKey}`,
    `${paint("bold", "trusted")}     ${JSON.stringify(trustedKey)}`,
  ].join("\n");
}
