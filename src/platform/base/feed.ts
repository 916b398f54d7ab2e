// Streams that many readers follow in step: the shared part of each message is encoded once. A feed is another way to serve an
// RPC with server streaming, without its handler. The server of feeds does only the per-reader work for each reader.

import type { DescMessage, DescMethodServerStreaming, Message, MessageShape } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext } from "@connectrpc/connect";
import type { Sink } from "./sink.ts";

/**
 * One response message, in the form that a surface needs: the other form is not made. All readers get the same object, so that
 * values derived from it can be cached with it.
 */
export interface FeedItem {
  readonly bytes: Uint8Array;
  /** Do not change it. */
  readonly message: Message;
}

/** An RPC with server streaming that is encoded once for all readers. */
export interface Feed {
  readonly method: DescMethodServerStreaming;
  /** True when several concatenated messages are one message with the same meaning. */
  readonly isMergeable: boolean;
  /** Returns false for a caller that the method's handler would refuse before it reads the request. */
  admits(values: ContextValues): boolean;
  /**
   * Opens the stream with everything that surrounds the handler: access, validation, and failures as ConnectError.
   * An empty batch opens the stream or keeps it alive. The stream ends soon after the context's signal aborts.
   * While the reader waits for a batch, the sink may take batches instead: the same arrays for every reader.
   */
  open(
    request: MessageShape<DescMessage>,
    context: HandlerContext,
    sink?: Sink<readonly FeedItem[]>,
  ): AsyncGenerator<readonly FeedItem[], void>;
}
