// `runnel sign`: signs a JobSpec, by itself or in its wrapper. It calls no service. It prints the text that it read, byte for
// byte, except for the members that signing sets.

import { type Command, Option } from "commander";
import { systemClock } from "../../platform/base/clock.ts";
import { thumbprint } from "../../platform/base/public-key.ts";
import { readKeyPair } from "../../protocols/jobspec/verification/key-file.ts";
import { newStamp, type Signing, signSpec } from "../../protocols/jobspec/verification/sign.ts";
import { readExpiry } from "../arguments.ts";
import { CommandError } from "../command-error.ts";
import { example } from "../example.ts";
import { outputOf } from "../output.ts";
import { explainFaults, openSpec, readJsonFile, readKey } from "./signing-files.ts";

interface SignFlags {
  readonly key: string;
  readonly sigV?: "1" | "2";
  readonly exp?: Date;
  readonly aud?: string;
  readonly stamp?: true;
  readonly canonical?: true;
}

/** Defines `sign`. */
export function defineSign(command: Command): void {
  command
    .argument("[spec]")
    .addHelpText("after", example("runnel sign spec.json --key portal.pem --stamp > signed.json"))
    .requiredOption("--key <file>", "private key: PKCS#8, or base64 of the seed or of seed and public key")
    .addOption(
      new Option("--sig-v <version>", "version of the signature; unset means the spec's own").choices(["1", "2"]),
    )
    .option("--exp <when>", "version 2: end of the signature, as 12h or 2031-12-31", readExpiry)
    .option("--aud <text>", "version 2: audience of the spec")
    .option("--stamp", "set a new metadata.timestamp and metadata.nonce")
    .option("--canonical", "print the bytes that are signed instead of the spec")
    .action(signFile);
}

async function signFile(path = "-", flags: SignFlags, command: Command): Promise<void> {
  const signing = readSigning(flags);
  const pair = await readKey(flags.key, readKeyPair);
  const { spec, putBack } = openSpec(path, await readJsonFile(path));
  const output = outputOf(command);
  const { text, canonical, version, publicKey } = explainFaults(path, () => signSpec(spec, pair, signing));
  const own = Buffer.from(publicKey).toString("base64");
  const before = spec.object.get("public_key") ?? own;
  if (before !== own) {
    output.note("the public key of another key pair was replaced", { note: "replaced", public_key: before });
  }
  const signed = putBack(text);
  const answer = { version, kid: thumbprint(publicKey), public_key: own, canonical, spec: signed };
  // As a stream, which adds nothing: not even the end of a line.
  await output.stream(
    () => answer,
    () => (flags.canonical === true ? canonical : signed),
  );
}

function readSigning({ sigV, exp, aud, stamp }: SignFlags): Signing {
  if (sigV !== "2" && (exp !== undefined || aud !== undefined)) {
    const what = "--exp and --aud belong to version 2 of the signature";
    throw new CommandError(what, { reason: "USAGE", fix: "add --sig-v 2", exitCode: 2 });
  }
  return {
    ...(sigV !== undefined && { version: sigV === "2" ? 2 : 1 }),
    ...(exp !== undefined && { expireMs: exp.getTime() }),
    ...(aud !== undefined && { audience: aud }),
    ...(stamp === true && { stamp: newStamp(systemClock.nowMs()) }),
  };
}
