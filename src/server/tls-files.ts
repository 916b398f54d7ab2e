// The certificates of the settings, read when the service starts.

import { readFileSync } from "node:fs";
import { Fault } from "../base/fault.ts";
import type { Config } from "../config/keys.ts";

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates; with it a client must present one. */
  readonly clientCa?: string;
}

/** Undefined without a certificate. Throws CONFIG_INVALID, in the Agent Runner document's words where it has some. */
export function readTlsFiles({ tlsCertFile, tlsKeyFile, tlsClientCaFile }: Config): TlsFiles | undefined {
  if ((tlsCertFile === "") !== (tlsKeyFile === "")) {
    throw new Fault("CONFIG_INVALID", "tls: both cert_file and key_file must be set, or neither");
  }
  if (tlsCertFile === "") {
    if (tlsClientCaFile !== "") {
      throw new Fault("CONFIG_INVALID", "tls: client_ca_file needs cert_file and key_file: set them too");
    }
    return undefined;
  }
  return {
    cert: readPem("cert_file", tlsCertFile),
    key: readPem("key_file", tlsKeyFile),
    ...(tlsClientCaFile !== "" && { clientCa: readPem("client_ca_file", tlsClientCaFile) }),
  };
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("CONFIG_INVALID", `tls ${name} not readable: ${why}`, { cause: error });
  }
}
