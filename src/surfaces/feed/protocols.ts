// How gRPC, gRPC-Web and Connect name a stream's codec and timeout, and how each of them ends one.

import { type ConnectError, createHandlerContext, type HandlerContext } from "@connectrpc/connect";
import { encodeEnvelope, type UniversalServerRequest } from "@connectrpc/connect/protocol";
import * as connect from "@connectrpc/connect/protocol-connect";
import * as grpc from "@connectrpc/connect/protocol-grpc";
import * as web from "@connectrpc/connect/protocol-grpc-web";

export interface StreamProtocol {
  readonly name: string;
  /** Undefined for a content type that is not this protocol's, or that it has no codec for. */
  readCodec(contentType: string | null): { readonly binary: boolean } | undefined;
  readonly protoType: string;
  readonly jsonType: string;
  /** Names the compression of the request. */
  readonly encodingHeader: string;
  /** Undefined for a request that says nothing; an error for one that says it wrong. */
  readTimeout(
    header: Headers,
    maxTimeoutMs: number,
  ): { readonly timeoutMs?: number | undefined; readonly error?: unknown };
  /** Where the trailers begin. */
  readonly initialTrailer: Readonly<Record<string, string>>;
  /** Tells how the stream ended: the last bytes of its body, or in the trailers that follow it. */
  end(context: HandlerContext, error: ConnectError | undefined): Uint8Array | undefined;
}

const okTrailer = { "grpc-status": grpc.grpcStatusOk };
const webTrailers = web.createTrailerSerialization();

const grpcProtocol: StreamProtocol = {
  name: "grpc",
  readCodec: (contentType) => grpc.parseContentType(contentType),
  protoType: grpc.contentTypeProto,
  jsonType: grpc.contentTypeJson,
  encodingHeader: grpc.headerEncoding,
  readTimeout: (header, maxTimeoutMs) => grpc.parseTimeout(header.get(grpc.headerTimeout), maxTimeoutMs),
  initialTrailer: okTrailer,
  end: (context, error) => {
    if (error !== undefined) {
      grpc.setTrailerStatus(context.responseTrailer, error);
    }
    return undefined;
  },
};

const webProtocol: StreamProtocol = {
  ...grpcProtocol,
  name: "grpc-web",
  readCodec: (contentType) => {
    const type = web.parseContentType(contentType);
    return type === undefined || type.text ? undefined : type;
  },
  protoType: web.contentTypeProto,
  jsonType: web.contentTypeJson,
  end: (context, error) => {
    if (error !== undefined) {
      web.setTrailerStatus(context.responseTrailer, error);
    }
    return encodeEnvelope(web.trailerFlag, webTrailers.serialize(context.responseTrailer));
  },
};

const connectProtocol: StreamProtocol = {
  name: "connect",
  readCodec: (contentType) => {
    const type = connect.parseContentType(contentType);
    return type?.stream === true ? type : undefined;
  },
  protoType: connect.contentTypeStreamProto,
  jsonType: connect.contentTypeStreamJson,
  encodingHeader: connect.headerStreamEncoding,
  readTimeout: (header, maxTimeoutMs) => connect.parseTimeout(header.get(connect.headerTimeout), maxTimeoutMs),
  initialTrailer: {},
  end: (context, error) => {
    const json = connect.endStreamToJson(context.responseTrailer, error, undefined);
    return encodeEnvelope(connect.endStreamFlag, new TextEncoder().encode(JSON.stringify(json)));
  },
};

const protocols: readonly StreamProtocol[] = [grpcProtocol, webProtocol, connectProtocol];

/** A call that can be served without its method's own handler. */
export interface StreamCall {
  readonly protocol: StreamProtocol;
  readonly binary: boolean;
  readonly timeoutMs: number | undefined;
}

/** Undefined for everything unusual: that is the handler's to refuse, or to serve. */
export function readStreamCall(request: UniversalServerRequest, maxTimeoutMs: number): StreamCall | undefined {
  const { header, method } = request;
  const contentType = header.get("content-type");
  for (const protocol of protocols) {
    const codec = protocol.readCodec(contentType);
    if (codec === undefined) {
      continue;
    }
    const timeout = protocol.readTimeout(header, maxTimeoutMs);
    const isPlain = (header.get(protocol.encodingHeader) ?? "identity") === "identity";
    const version = header.get(connect.headerProtocolVersion) ?? connect.protocolVersion;
    if (method !== "POST" || !isPlain || timeout.error !== undefined || version !== connect.protocolVersion) {
      return undefined;
    }
    return { protocol, binary: codec.binary, timeoutMs: timeout.timeoutMs };
  }
  return undefined;
}

type ContextInit = Parameters<typeof createHandlerContext>[0];

/** The context that the handler would get. */
export function openContext(
  call: StreamCall,
  request: UniversalServerRequest,
  { method, shutdownSignal }: Pick<ContextInit, "method" | "shutdownSignal">,
): ReturnType<typeof createHandlerContext> {
  const { protocol, binary, timeoutMs } = call;
  return createHandlerContext({
    service: method.parent,
    method,
    requestMethod: request.method,
    protocolName: protocol.name,
    url: request.url,
    requestSignal: request.signal,
    requestHeader: request.header,
    responseHeader: { "content-type": binary ? protocol.protoType : protocol.jsonType },
    responseTrailer: protocol.initialTrailer,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(shutdownSignal !== undefined && { shutdownSignal }),
    ...(request.contextValues !== undefined && { contextValues: request.contextValues }),
  });
}
