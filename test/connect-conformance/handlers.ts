// ConformanceService behind the same compressions, limits and interceptors as our own services.

import { createRegistry } from "@bufbuild/protobuf";
import { createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { createDeadlineInterceptor } from "../../src/api/deadline.ts";
import { createErrorMapper, createFaultInterceptor } from "../../src/api/faults.ts";
import { routerLimits } from "../../src/api/router.ts";
import { createValidationInterceptor } from "../../src/api/validation.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { createEvents } from "../../src/platform/telemetry/events.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";
import { mountFeeds } from "../../src/surfaces/feed/feed-handler.ts";
import { answerBidiStream } from "./bidi-stream.ts";
import { answerClientStream } from "./client-stream.ts";
import {
  ConformanceService,
  file_connectrpc_conformance_v1_service,
} from "./gen/connectrpc/conformance/v1/service_pb.js";
import { answerBehindFeed, answerServerStream, serverStreamFeed } from "./server-stream.ts";
import { answerUnary } from "./unary.ts";

export interface HandlersOptions {
  readonly readMaxBytes: number;
  /** With true, ServerStream is a feed, like our own streams with many readers. */
  readonly isCustomStream: boolean;
}

export function createHandlers({ readMaxBytes, isCustomStream }: HandlersOptions): readonly UniversalHandler[] {
  const limits = { ...routerLimits, readMaxBytes };
  // Payloads hold messages of the service as google.protobuf.Any, which JSON can only write with their types.
  const jsonOptions = { registry: createRegistry(file_connectrpc_conformance_v1_service) };
  const events = createEvents(createLogger("silent"));
  const { handlers } = createConnectRouter({
    interceptors: [
      createFaultInterceptor(createErrorMapper(events, [])),
      createDeadlineInterceptor(systemClock),
      createValidationInterceptor(),
    ],
    acceptCompression: [compressionGzip, compressionBrotli],
    // Unlike our own services: otherwise the suite would not test answers that are not worth compressing.
    compressMinBytes: 0,
    jsonOptions,
    ...limits,
  }).service(ConformanceService, {
    // The suite expects one method without an implementation.
    unary: answerUnary,
    idempotentUnary: answerUnary,
    clientStream: answerClientStream,
    serverStream: isCustomStream ? answerBehindFeed : answerServerStream,
    bidiStream: answerBidiStream,
  });
  return isCustomStream ? mountFeeds(handlers, [serverStreamFeed], { ...limits, jsonOptions }) : handlers;
}
