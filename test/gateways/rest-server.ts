// A REST gateway on a real port, over services that a test implements in a few lines.

import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { type DescService, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import type { HandlerContext, Interceptor, ServiceImpl } from "@connectrpc/connect";
import { FileService } from "#gen/runnel/v1/file_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { part } from "../../src/api/protocol.ts";
import { errorForms } from "../../src/app/protocols.ts";
import { Fault } from "../../src/platform/base/fault.ts";
import { createLocalMethods } from "../../src/platform/base/local-methods.ts";
import { Bodies } from "../../src/surfaces/http/request-body.ts";
import { createRestGateway, type RestCall, type RestGatewayOptions } from "../../src/surfaces/rest/gateway.ts";
import type { RestRequest, RestResponse } from "../../src/surfaces/rest/respond.ts";

export interface RestServerSpec {
  readonly sessions?: Partial<ServiceImpl<typeof SessionService>>;
  readonly runs?: Partial<ServiceImpl<typeof RunService>>;
  readonly files?: Partial<ServiceImpl<typeof FileService>>;
  /** A service that is not in the contract. */
  readonly own?: OwnService;
  readonly interceptors?: readonly Interceptor[];
  readonly gateway?: Partial<RestGatewayOptions>;
  readonly call?: RestCall;
  readonly bodyBytesMax?: number;
  /** Refuses every request with this fault, as the server does before a call. */
  readonly refusal?: Fault;
  readonly http2?: boolean;
  /** Headers that are set on every answer before the gateway sees it, as the server does for pages of other origins. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OwnService {
  readonly service: DescService;
  /** Keyed by the names of the methods; messages are plain ProtoJSON. */
  readonly methods: Readonly<Record<string, JsonMethod>>;
}

export type JsonMethod = (request: JsonValue, context: HandlerContext) => JsonValue | Promise<JsonValue>;

export interface RestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

const bodyBytesMax = 10 * 1_048_576;

export async function startRestServer(spec: RestServerSpec): Promise<RestServer> {
  const parts = [
    part(SessionService, spec.sessions ?? {}),
    part(RunService, spec.runs ?? {}),
    part(FileService, spec.files ?? {}),
    ...(spec.own === undefined ? [] : [part(spec.own.service, implement(spec.own))]),
  ];
  const gateway = createRestGateway({
    methods: createLocalMethods(parts, { assertAccess: () => {}, interceptors: spec.interceptors ?? [] }),
    services: parts.map(({ service }) => service),
    errorForms,
    ...spec.gateway,
  });
  const listener = (request: RestRequest, response: RestResponse): void => {
    for (const [name, value] of Object.entries(spec.headers ?? {})) {
      response.setHeader(name, value);
    }
    if (spec.refusal === undefined) {
      void answer(request, response);
    } else {
      gateway.refuse(request, response, spec.refusal);
    }
  };
  const bodies = new Bodies();
  const answer = async (request: RestRequest, response: RestResponse): Promise<void> => {
    const { reader } = gateway.describe(request.url ?? "", request.method ?? "");
    if (reader.kind !== "text") {
      await gateway.handle(request, response, spec.call);
      return;
    }
    try {
      const { bytes, release } = await bodies.read(request, spec.bodyBytesMax ?? bodyBytesMax);
      release();
      await gateway.handle(request, response, { body: bytes, ...spec.call });
    } catch (error) {
      if (error instanceof Fault) {
        gateway.refuse(request, response, error);
      }
    }
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

function implement({ service, methods }: OwnService): ServiceImpl<DescService> {
  const handlers = service.methods.map(({ name, localName, input, output }) => {
    const handle = async (request: Message, context: HandlerContext): Promise<Message> => {
      const answer = await methods[name]?.(toJson(input, request, { useProtoFieldName: true }), context);
      return fromJson(output, answer ?? {});
    };
    return [localName, handle] as const;
  });
  // The compiler knows only the types of generated messages.
  return Object.fromEntries(handlers) as unknown as ServiceImpl<DescService>;
}
