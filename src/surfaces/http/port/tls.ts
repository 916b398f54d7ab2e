// TLS options from PEM texts. They are checked when the port opens, so that the operator sees a mistake, not the first client.

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext, type TlsOptions } from "node:tls";
import { Fault } from "../../../platform/base/fault.ts";

/** The certificates and the key, as PEM texts. */
export interface OnePortTls {
  /** The server's certificate, followed by the intermediate certificates. */
  readonly cert: string;
  readonly key: string;
  /** The authorities of client certificates. When set, a client must present a certificate of one of them. */
  readonly clientCa?: string;
}

/** The protocols of a port. */
export type OnePortProtocols = "both" | "h1" | "h2";

/** Returns the TLS options of Node. Throws Fault CONFIG_INVALID for certificates or a key that cannot be used. */
export function tlsOptions({ cert, key, clientCa }: OnePortTls, protocols: OnePortProtocols): TlsOptions {
  const [certificate] = readCertificates(cert, "RUNNEL_TLS_CERT_FILE");
  if (certificate?.checkPrivateKey(readKey(key)) !== true) {
    throw new Fault(
      "CONFIG_INVALID",
      "the TLS key does not belong to the TLS certificate: set RUNNEL_TLS_CERT_FILE and RUNNEL_TLS_KEY_FILE to files " +
        "that were made together, the server's own certificate first in its file",
    );
  }
  const options: TlsOptions = {
    ALPNProtocols: alpnNames[protocols],
    cert,
    key,
    // Older versions are broken, and every client of the last ten years speaks 1.2.
    minVersion: "TLSv1.2",
  };
  assertUsable(options);
  if (clientCa === undefined) {
    return options;
  }
  // Checked here because Node ignores certificates that it cannot read, and then no client could connect.
  readCertificates(clientCa, "RUNNEL_TLS_CLIENT_CA_FILE");
  return { ...options, ca: clientCa, requestCert: true, rejectUnauthorized: true };
}

const alpnNames: Readonly<Record<OnePortProtocols, string[]>> = {
  both: ["h2", "http/1.1"],
  h1: ["http/1.1"],
  h2: ["h2"],
};

const pemCertificate = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** Reads at least one certificate. */
function readCertificates(pem: string, setting: string): X509Certificate[] {
  const texts = pem.match(pemCertificate) ?? [];
  if (texts.length === 0) {
    const fix = `set ${setting} to a file that begins with -----BEGIN CERTIFICATE-----`;
    throw new Fault("CONFIG_INVALID", `the file of ${setting} holds no certificate in PEM format: ${fix}`);
  }
  return texts.map((text, index) => {
    try {
      return new X509Certificate(text);
    } catch (error) {
      const fix = "replace the file, it is damaged";
      throw new Fault("CONFIG_INVALID", `certificate ${index + 1} in the file of ${setting} is not readable: ${fix}`, {
        cause: error,
      });
    }
  });
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new Fault(
      "CONFIG_INVALID",
      "the file of RUNNEL_TLS_KEY_FILE holds no private key in PEM format, or one with a passphrase: " +
        "set it to a file with a plain private key",
      { cause: error },
    );
  }
}

/** Checks the rules of OpenSSL, such as the minimum key length. */
function assertUsable(options: TlsOptions): void {
  try {
    createSecureContext(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const fix = "make a new pair, with a key of at least 2048 bits for RSA or 256 for EC";
    throw new Fault("CONFIG_INVALID", `the TLS certificate and key cannot be used (${why}): ${fix}`, { cause: error });
  }
}
