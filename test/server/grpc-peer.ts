// The reference client of gRPC with plain bytes for messages, as a peer of the port.

import { Client, credentials } from "@grpc/grpc-js";
import type { KeyPair } from "../harness/certificates.ts";
import { certificates, destroyAfterTest, type TestPort } from "./port-stage.ts";

/** Makes one unary call; rejects with the ServiceError of grpc-js. `client` is the certificate that the peer presents. */
export function callGrpc(
  port: TestPort,
  path: string,
  message: Buffer,
  options: { readonly client?: KeyPair } = {},
): Promise<Buffer> {
  const channel = port.isSecure ? secureChannel(options.client) : credentials.createInsecure();
  const client = new Client(`127.0.0.1:${port.address.port}`, channel, {
    "grpc.enable_http_proxy": 0,
    // The handshake contains a host name, but never an address.
    ...(port.isSecure && { "grpc.ssl_target_name_override": "localhost" }),
  });
  destroyAfterTest({ destroy: () => client.close() });
  const identity = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, identity, identity, message, (error, bytes) => {
      if (bytes === undefined) {
        reject(error);
      } else {
        resolve(bytes);
      }
    });
  });
}

function secureChannel(client: KeyPair | undefined): ReturnType<typeof credentials.createSsl> {
  const ca = Buffer.from(certificates.ca);
  return client === undefined
    ? credentials.createSsl(ca)
    : credentials.createSsl(ca, Buffer.from(client.key), Buffer.from(client.cert));
}
