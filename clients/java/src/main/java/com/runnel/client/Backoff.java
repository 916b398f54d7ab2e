package com.runnel.client;

import java.time.Duration;

/** The waits between attempts, as docs/resuming.md has them: 0.2 s, doubled after each attempt that brought nothing. */
final class Backoff {
    private static final Duration FIRST = Duration.ofMillis(200);
    private static final Duration MOST = Duration.ofSeconds(10);

    private Duration next = FIRST;

    /** Starts over: an attempt has brought something. */
    void reset() {
        next = FIRST;
    }

    /** Returns the wait after an attempt that ended with this error. */
    Duration after(RunnelException error) {
        Duration delay = next;
        Duration doubled = next.multipliedBy(2);
        next = doubled.compareTo(MOST) < 0 ? doubled : MOST;
        return error.retryAfter().orElse(delay);
    }
}
