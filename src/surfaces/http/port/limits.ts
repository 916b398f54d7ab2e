// What the port lets its peers do, and the numbers it starts from. Every limit of a connection, a session or a request on
// the wire is here; what a request may ask for is the business of those who answer it.

/** 0 means no limit for the time that a request, its head and an idle connection have. */
export interface OnePortLimits {
  readonly connectionsMax: number;
  /** Of one peer address; an IPv4 address that comes by IPv6 is the same address. */
  readonly connectionsPerAddressMax: number;
  /** How often the limits below are looked at: each may be exceeded by this much. */
  readonly checkIntervalMs: number;
  /** Until a connection shows its protocol, its TLS handshake included; and until an h2 peer has sent its SETTINGS. */
  readonly prefaceTimeoutMs: number;
  readonly headerBytesMax: number;
  readonly h1HeadersTimeoutMs: number;
  /** For receiving a request, body included; a response may take longer. */
  readonly h1RequestTimeoutMs: number;
  readonly h1KeepAliveTimeoutMs: number;
  /** For an open response that moves no byte: its reader stopped reading, or is gone. */
  readonly h1StallTimeoutMs: number;
  /** For the rest of a request that was answered before it was received. */
  readonly h1LingerTimeoutMs: number;
  /** Of such a rest: what is more costs the connection at the next check. */
  readonly h1LingerBytesMax: number;
  readonly h2StreamsMax: number;
  /** For receiving a request, body included, unless its answer has begun. */
  readonly h2RequestTimeoutMs: number;
  readonly h2SessionMemoryMaxMiB: number;
  /** Streams that a peer may reset at once, and then per second, before its session is ended. */
  readonly h2ResetBurst: number;
  readonly h2ResetsPerSecond: number;
  readonly h2PingIntervalMs: number;
  readonly h2PingTimeoutMs: number;
  /** For a session without streams. */
  readonly h2IdleTimeoutMs: number;
  /** After this, give or take a tenth, a session takes no new streams. */
  readonly h2SessionAgeMs: number;
  /** What the streams of such a session still get, before it is destroyed. */
  readonly h2RetiredAgeMs: number;
  /** For a session without streams that was told to go: the peer has this long to close its side. */
  readonly h2LingerTimeoutMs: number;
}

export const onePortLimits: OnePortLimits = {
  // Five times what one process is measured to serve (1000 gRPC and 1000 SSE readers); a flood stops here.
  connectionsMax: 10_000,
  // A quarter: room for every reader behind one proxy, and no single host takes the port from the others.
  connectionsPerAddressMax: 2_500,
  // Fine enough for limits of seconds, and cheap: one pass over the connections.
  checkIntervalMs: 1_000,
  // A client speaks first and at once; this leaves room for a slow mobile network.
  prefaceTimeoutMs: 10_000,
  // Node's own default for h1; metadata that passes on one protocol passes on the other.
  headerBytesMax: 16 * 1024,
  // Headers fit a few packets, so only an attack or a dead peer needs longer.
  h1HeadersTimeoutMs: 5_000,
  // 10 MiB, the largest body, at 3 Mbit/s.
  h1RequestTimeoutMs: 30_000,
  // Longer than the 60 s for which common proxies keep idle connections, so that they close first and never race us.
  h1KeepAliveTimeoutMs: 120_000,
  // Eight missed heartbeats of 15 s, and twice the 60 s that a unary call may take.
  h1StallTimeoutMs: 120_000,
  // Time for a client that looks at the answer only once it has sent all; as long as a head may take.
  h1LingerTimeoutMs: 5_000,
  // Six times the largest body: a sender that much beyond the limit reads the answer before it has sent all.
  h1LingerBytesMax: 64 * 1_048_576,
  // Enough for a client library's one connection; more streams open another connection.
  h2StreamsMax: 100,
  // As on h1: what a client may send does not depend on the protocol.
  h2RequestTimeoutMs: 30_000,
  // 100 streams with half a MiB each waiting for their readers, and some room. Beyond it Node refuses new streams.
  h2SessionMemoryMaxMiB: 64,
  // A page that closes all its streams at once stays far below; thousands of resets in a row are an attack.
  h2ResetBurst: 200,
  h2ResetsPerSecond: 20,
  // Interval, timeout and two checks: a peer that vanished is found within 30 s.
  h2PingIntervalMs: 20_000,
  h2PingTimeoutMs: 8_000,
  // As long as an idle h1 connection.
  h2IdleTimeoutMs: 120_000,
  // Connections move to new replicas within the half hour, not all at the same moment.
  h2SessionAgeMs: 30 * 60_000,
  // The hour that a stream may last, and five minutes for it to end by itself.
  h2RetiredAgeMs: 65 * 60_000,
  // As the preface: one exchange with a peer that is willing.
  h2LingerTimeoutMs: 10_000,
};

/** How long a limit lasts that may be switched off by 0. */
export function orNever(timeoutMs: number): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs;
}
