// The certificates of the settings, read when the service starts.

import { readFileSync } from "node:fs";
import type { Config } from "./keys.ts";
import { describeError, invalidConfig, type Problem } from "./problem.ts";

/** The certificates in PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates. When set, every client must present a certificate. */
  readonly clientCa?: string;
}

/**
 * Returns undefined without a certificate. Throws CONFIG_INVALID, in the wording of the Agent Runner document where it has one.
 */
export function readTlsFiles(config: Config): TlsFiles | undefined {
  const { files, problems } = tryTlsFiles(config);
  if (problems.length > 0) {
    throw invalidConfig(problems);
  }
  return files;
}

/** Returns the problems for which `readTlsFiles` would throw. */
export function findTlsProblems(config: Config): readonly Problem[] {
  return tryTlsFiles(config).problems;
}

interface Tried {
  readonly files: TlsFiles | undefined;
  readonly problems: readonly Problem[];
}

function tryTlsFiles({ tlsCertFile, tlsKeyFile, tlsClientCaFile }: Config): Tried {
  const refuse = (text: string): Tried => ({ files: undefined, problems: [{ field: "server.tls", text }] });
  if ((tlsCertFile === "") !== (tlsKeyFile === "")) {
    return refuse("tls: both cert_file and key_file must be set, or neither");
  }
  if (tlsCertFile === "") {
    const isLost = tlsClientCaFile !== "";
    return isLost
      ? refuse("tls: client_ca_file needs cert_file and key_file: set them too")
      : { files: undefined, problems: [] };
  }
  const problems: Problem[] = [];
  const files = {
    cert: readPem("cert_file", tlsCertFile, problems),
    key: readPem("key_file", tlsKeyFile, problems),
    ...(tlsClientCaFile !== "" && { clientCa: readPem("client_ca_file", tlsClientCaFile, problems) }),
  };
  return { files, problems };
}

function readPem(name: string, path: string, problems: Problem[]): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    problems.push({ field: `server.tls.${name}`, text: `tls ${name} not readable: ${describeError(error)}` });
    return "";
  }
}
