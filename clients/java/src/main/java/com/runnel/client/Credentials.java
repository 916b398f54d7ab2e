package com.runnel.client;

import io.grpc.CallCredentials;
import io.grpc.Metadata;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.Executor;

/** Says who calls. Each attempt of a call gets headers of its own, so a signature is never sent twice. */
public final class Credentials {
    private static final SecureRandom RANDOM = new SecureRandom();
    /** The service takes 8 to 128 characters. */
    private static final int NONCE_BYTES = 16;

    /** Adds the headers of one attempt. */
    private interface Signer {
        void sign(Metadata headers, String path, byte[] message);
    }

    private final Signer signer;

    private Credentials(Signer signer) {
        this.signer = signer;
    }

    /**
     * Returns credentials for a service that admits every caller, as {@code runnel dev} does.
     *
     * @return credentials that send nothing
     */
    public static Credentials none() {
        return new Credentials((headers, path, message) -> {});
    }

    /**
     * Returns credentials that send an API key.
     *
     * @param key the key of a client
     * @return the credentials
     */
    public static Credentials apiKey(String key) {
        return bearer(key);
    }

    /**
     * Returns credentials that send a stream ticket, which opens one session or run.
     *
     * @param ticket a ticket of {@code AuthService.CreateStreamTicket}
     * @return the credentials
     */
    public static Credentials ticket(String ticket) {
        return bearer(ticket);
    }

    /**
     * Returns credentials that sign each call with HMAC-SHA256 (version 2). The secret does not leave this program.
     *
     * @param clientId id of the client that signs
     * @param secret secret of the client
     * @return the credentials
     */
    public static Credentials hmac(String clientId, String secret) {
        return new Credentials((headers, path, message) -> {
            String timestamp = String.valueOf(Instant.now().getEpochSecond());
            String nonce = newNonce();
            String content = HexFormat.of().formatHex(Sha256.of(message));
            String signed = String.join("\n", "v2", "POST", path, clientId, timestamp, nonce, content);
            put(headers, "x-client-id", clientId);
            put(headers, "x-timestamp", timestamp);
            put(headers, "x-nonce", nonce);
            put(headers, "x-signature", "sha256=" + Hmac.sha256(secret, signed.getBytes(StandardCharsets.UTF_8)));
        });
    }

    private static Credentials bearer(String token) {
        return new Credentials((headers, path, message) -> put(headers, "authorization", "Bearer " + token));
    }

    /**
     * Returns what gives each attempt of a call its headers, also those attempts that gRPC makes by itself.
     *
     * @param path path of the method, such as {@code /runnel.v1.RunService/GetRun}
     * @param message the encoded request
     */
    CallCredentials of(String path, byte[] message) {
        return new CallCredentials() {
            @Override
            public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
                Metadata headers = new Metadata();
                signer.sign(headers, path, message);
                applier.apply(headers);
            }
        };
    }

    private static String newNonce() {
        byte[] bytes = new byte[NONCE_BYTES];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static void put(Metadata headers, String name, String value) {
        headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    }
}
