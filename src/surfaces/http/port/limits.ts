// The limits of the port and their defaults: every limit of a connection, a session or a request on the wire. Limits on the
// content of requests belong to their handlers.

/** The limits of the port. 0 disables the timeouts of a request, its head and an idle connection. */
export interface OnePortLimits {
  readonly connectionsMax: number;
  /** The maximum for one peer: an IPv4 address (also IPv4-mapped), or the first 64 bits of an IPv6 address. */
  readonly connectionsPerAddressMax: number;
  /** The interval of checks: each limit below may be exceeded by this much. */
  readonly checkIntervalMs: number;
  /**
   * The time until a connection shows its protocol, including its TLS handshake, and until an h2 peer has sent its SETTINGS.
   */
  readonly prefaceTimeoutMs: number;
  readonly headerBytesMax: number;
  /** The interval in which Node checks the next two limits, which may be exceeded by this much. It checks without connections too. */
  readonly h1CheckIntervalMs: number;
  readonly h1HeadersTimeoutMs: number;
  /** The time to receive a request with its body. A response may take longer. */
  readonly h1RequestTimeoutMs: number;
  readonly h1KeepAliveTimeoutMs: number;
  /** The maximum time in which an open response moves no byte: its reader stopped reading or is gone. */
  readonly h1StallTimeoutMs: number;
  /** The time to receive the rest of a request that was answered early. */
  readonly h1LingerTimeoutMs: number;
  /** The maximum size of such a rest. A larger rest closes the connection at the next check. */
  readonly h1LingerBytesMax: number;
  readonly h2StreamsMax: number;
  /** The time to receive a request with its body, unless its answer has begun. */
  readonly h2RequestTimeoutMs: number;
  readonly h2SessionMemoryMaxMiB: number;
  /** The number of streams that a peer may reset at once, and then per second, before its session ends. */
  readonly h2ResetBurst: number;
  readonly h2ResetsPerSecond: number;
  readonly h2PingIntervalMs: number;
  readonly h2PingTimeoutMs: number;
  /** The maximum idle time of a session without streams. */
  readonly h2IdleTimeoutMs: number;
  /** The age after which a session takes no new streams, plus or minus a tenth. */
  readonly h2SessionAgeMs: number;
  /** The further time of the streams in such a session, before it is destroyed. */
  readonly h2RetiredAgeMs: number;
  /** The time in which a peer must close its side after GOAWAY, for a session without streams. */
  readonly h2LingerTimeoutMs: number;
}

/** The default limits. */
export const onePortLimits: OnePortLimits = {
  // Five times the measured load of one process (1000 gRPC and 1000 SSE readers); a flood stops here.
  connectionsMax: 10_000,
  // A quarter: room for every reader behind one proxy, and no single host can take the whole port.
  connectionsPerAddressMax: 2_500,
  // Fine enough for limits of seconds, and cheap: one pass over the connections.
  checkIntervalMs: 1_000,
  // A client speaks first and at once; this leaves room for a slow mobile network.
  prefaceTimeoutMs: 10_000,
  // Node's own default for h1. Metadata that passes on one protocol passes on the other.
  headerBytesMax: 16 * 1024,
  // Each check wakes an idle process.
  h1CheckIntervalMs: 5_000,
  // Headers fit into a few packets, so only an attack or a dead peer needs longer.
  h1HeadersTimeoutMs: 5_000,
  // 10 MiB, the largest body, at 3 Mbit/s.
  h1RequestTimeoutMs: 30_000,
  // Longer than the 60 s for which common proxies keep idle connections: the proxies then close first, without a race.
  h1KeepAliveTimeoutMs: 120_000,
  // Eight missed heartbeats of 15 s, and twice the 60 s that a unary call may take.
  h1StallTimeoutMs: 120_000,
  // Time for a client that reads the answer only after it has sent everything; as long as for a head.
  h1LingerTimeoutMs: 5_000,
  // Six times the largest body: a sender that far beyond the limit reads the answer before it has sent everything.
  h1LingerBytesMax: 64 * 1_048_576,
  // Enough for a client library's one connection; more streams open another connection.
  h2StreamsMax: 100,
  // As on h1: the limits of a client do not depend on the protocol.
  h2RequestTimeoutMs: 30_000,
  // 100 streams with half a MiB each waiting for their readers, and some reserve. Beyond it Node refuses new streams.
  h2SessionMemoryMaxMiB: 64,
  // A page that closes all its streams at once stays far below; thousands of resets in a row are an attack.
  h2ResetBurst: 200,
  h2ResetsPerSecond: 20,
  // Interval, timeout and two checks: a vanished peer is found within 30 s.
  h2PingIntervalMs: 20_000,
  h2PingTimeoutMs: 8_000,
  // As long as an idle h1 connection.
  h2IdleTimeoutMs: 120_000,
  // Connections move to new replicas within half an hour, not all at the same moment.
  h2SessionAgeMs: 30 * 60_000,
  // The maximum hour of a stream, and five minutes for it to end by itself.
  h2RetiredAgeMs: 65 * 60_000,
  // As for the preface: one exchange with a cooperative peer.
  h2LingerTimeoutMs: 10_000,
};

/** Returns the timeout, or Infinity for 0, which disables it. */
export function orNever(timeoutMs: number): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs;
}
