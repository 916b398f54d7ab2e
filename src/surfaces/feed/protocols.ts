// The codecs, timeouts and ends of streams in gRPC, gRPC-Web and Connect.

import { type ConnectError, createHandlerContext, type HandlerContext } from "@connectrpc/connect";
import { encodeEnvelope, type UniversalServerRequest } from "@connectrpc/connect/protocol";
import * as connect from "@connectrpc/connect/protocol-connect";
import * as grpc from "@connectrpc/connect/protocol-grpc";
import * as web from "@connectrpc/connect/protocol-grpc-web";

/** A protocol for streams. */
export interface StreamProtocol {
  readonly name: string;
  /** Returns undefined for a content type of another protocol, or of an unsupported codec. */
  readCodec(contentType: string | null): { readonly binary: boolean } | undefined;
  readonly protoType: string;
  readonly jsonType: string;
  /** The header that names the compression of the request. */
  readonly encodingHeader: string;
  /** Returns no timeout when the header is missing, and an error when it is invalid. */
  readTimeout(
    header: Headers,
    maxTimeoutMs: number,
  ): { readonly timeoutMs?: number | undefined; readonly error?: unknown };
  /** The trailers that every stream starts with. */
  readonly initialTrailer: Readonly<Record<string, string>>;
  /** Writes how the stream ended: returns the last bytes of the body, or sets the trailers after it and returns undefined. */
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

/** A call that a feed can serve without the method's handler. */
export interface StreamCall {
  readonly protocol: StreamProtocol;
  readonly binary: boolean;
  readonly timeoutMs: number | undefined;
}

/** Returns undefined for an unusual request: the handler then serves or refuses it. */
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

/** Opens the context that the handler would get. */
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
