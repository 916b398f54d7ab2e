package com.runnel.client;

import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;

/** Checks the signatures of status callbacks. */
final class StatusCallbacks {
    /** How far the clocks of the service and of the receiver may differ. */
    private static final Duration SKEW_MAX = Duration.ofMinutes(2);

    private StatusCallbacks() {}

    static void verify(String secret, Map<String, String> headers, byte[] body, Clock clock) {
        String timestamp = read(headers, "X-Timestamp");
        String nonce = read(headers, "X-Nonce");
        String signature = read(headers, "X-Signature");
        byte[] signed = (timestamp + "." + nonce + ".").getBytes(StandardCharsets.UTF_8);
        String expected = "sha256=" + Hmac.sha256(secret, signed, body);
        if (!MessageDigest.isEqual(
                expected.getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8))) {
            throw refuse(
                    "CALLBACK_SIGNATURE_INVALID",
                    "invalid X-Signature: the body or a header was changed, or the" + " secret is another one");
        }
        long skewSeconds = Math.abs(clock.instant().getEpochSecond() - readSeconds(timestamp));
        if (skewSeconds > SKEW_MAX.toSeconds()) {
            throw refuse(
                    "CALLBACK_TIMESTAMP_EXPIRED",
                    "invalid X-Timestamp: it differs from this clock by " + skewSeconds + " seconds, and may differ by "
                            + SKEW_MAX.toSeconds());
        }
    }

    private static String read(Map<String, String> headers, String name) {
        for (Map.Entry<String, String> each : headers.entrySet()) {
            if (each.getKey().equalsIgnoreCase(name)
                    && each.getValue() != null
                    && !each.getValue().isEmpty()) {
                return each.getValue();
            }
        }
        throw refuse("CALLBACK_HEADER_MISSING", "the callback has no " + name);
    }

    private static long readSeconds(String timestamp) {
        try {
            return Long.parseLong(timestamp);
        } catch (NumberFormatException notANumber) {
            throw refuse("CALLBACK_TIMESTAMP_EXPIRED", "invalid X-Timestamp: it is not a number of seconds");
        }
    }

    private static RunnelException refuse(String reason, String message) {
        return RunnelException.of(Status.Code.INVALID_ARGUMENT, reason, message);
    }
}
