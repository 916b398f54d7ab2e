// A REST gateway on a real port, over services that a test implements in a few lines.

import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { type ConnectRouterOptions, createConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { createRestGateway, type RestCall, type RestGatewayOptions } from "../../src/gateways/rest/gateway.ts";
import type { RestRequest, RestResponse } from "../../src/gateways/rest/respond.ts";

export interface RestServerSpec {
  readonly sessions?: Partial<ServiceImpl<typeof SessionService>>;
  readonly runs?: Partial<ServiceImpl<typeof RunService>>;
  readonly router?: ConnectRouterOptions;
  readonly gateway?: Partial<RestGatewayOptions>;
  readonly call?: RestCall;
  readonly http2?: boolean;
}

export interface RestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

export async function startRestServer(spec: RestServerSpec): Promise<RestServer> {
  const router = createConnectRouter(spec.router);
  router.service(SessionService, spec.sessions ?? {});
  router.service(RunService, spec.runs ?? {});
  const gateway = createRestGateway({
    handlers: router.handlers,
    services: [SessionService, RunService],
    ...spec.gateway,
  });
  const listener = (request: RestRequest, response: RestResponse): void => {
    void gateway.handle(request, response, spec.call);
  };
  const server: Server | Http2Server = spec.http2 === true ? createHttp2Server(listener) : createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: async () => {
      if ("closeAllConnections" in server) {
        server.closeAllConnections();
      }
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
