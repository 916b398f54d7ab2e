// Streams that many readers follow in step: what all of them get is made once and shared. A feed is an RPC with server
// streaming by another way than its handler; whoever serves feeds does for each reader only what is that reader's own.

import type { DescMessage, DescMethodServerStreaming, MessageShape } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext } from "@connectrpc/connect";
import type { Sink } from "./sink.ts";

/** One response message. The same object for every reader of it, so that what is made of it can be kept with it. */
export interface FeedItem {
  readonly bytes: Uint8Array;
}

export interface Feed {
  readonly method: DescMethodServerStreaming;
  /** True when several messages, one behind the other, are one message that says the same. */
  readonly isMergeable: boolean;
  /** False for a caller whom the method's handler would refuse before it reads the request. */
  admits(values: ContextValues): boolean;
  /**
   * Everything that stands around the handler stands around this too: access, validation, and failures as ConnectError. An
   * empty batch opens the stream or keeps it alive. Ends soon after the context's signal aborts. While a batch is waited for,
   * the sink may take some instead, the same arrays for every reader.
   */
  open(
    request: MessageShape<DescMessage>,
    context: HandlerContext,
    sink?: Sink<readonly FeedItem[]>,
  ): AsyncGenerator<readonly FeedItem[], void>;
}
