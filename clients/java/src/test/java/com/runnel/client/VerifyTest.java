package com.runnel.client;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import com.runnel.v1.GetReceiptResponse;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Callbacks and receipts that the service made are valid, and with any change they are not. */
final class VerifyTest {
    private static void assertRefused(String reason, Runnable check) {
        RunnelException error = assertThrows(RunnelException.class, check::run);
        assertEquals(Status.Code.INVALID_ARGUMENT, error.code());
        assertEquals(reason, error.reason());
    }

    private static String read(String name) {
        try (InputStream file = VerifyTest.class.getResourceAsStream("/vectors/" + name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    private static JsonObject readJson(String name) {
        return JsonParser.parseString(read(name)).getAsJsonObject();
    }

    @Nested
    final class Callback {
        private final JsonObject vector = readJson("callback.json");
        private final String secret = vector.get("secret").getAsString();
        private final String body = vector.get("body").getAsString();
        private final Instant signed = Instant.ofEpochMilli(vector.get("nowMs").getAsLong());
        private final Map<String, String> headers = new HashMap<>();

        Callback() {
            vector.getAsJsonObject("headers")
                    .entrySet()
                    .forEach(each -> headers.put(each.getKey(), each.getValue().getAsString()));
        }

        private void verify(String key, String text, Duration later) {
            Clock clock = Clock.fixed(signed.plus(later), ZoneOffset.UTC);
            Runnel.verifyCallback(key, headers, text.getBytes(StandardCharsets.UTF_8), clock);
        }

        @Test
        void isValidForTwoMinutes() {
            assertDoesNotThrow(() -> verify(secret, body, Duration.ZERO));
            assertDoesNotThrow(() -> verify(secret, body, Duration.ofMinutes(2)));
            assertDoesNotThrow(() -> verify(secret, body, Duration.ofMinutes(-2)));
            assertRefused("CALLBACK_TIMESTAMP_EXPIRED", () -> verify(secret, body, Duration.ofSeconds(121)));
            assertRefused("CALLBACK_TIMESTAMP_EXPIRED", () -> verify(secret, body, Duration.ofSeconds(-121)));
        }

        @Test
        void isRefusedWithAnotherBodyOrSecret() {
            assertRefused("CALLBACK_SIGNATURE_INVALID", () -> verify(secret, body + " ", Duration.ZERO));
            assertRefused("CALLBACK_SIGNATURE_INVALID", () -> verify("another", body, Duration.ZERO));
        }

        @Test
        void isRefusedWithoutAHeader() {
            for (String name : List.of("x-timestamp", "x-nonce", "x-signature")) {
                String value = headers.remove(name);
                assertRefused("CALLBACK_HEADER_MISSING", () -> verify(secret, body, Duration.ZERO));
                headers.put(name, value);
            }
        }

        @Test
        void hasHeadersInAnyCase() {
            headers.put("X-Signature", headers.remove("x-signature"));
            assertDoesNotThrow(() -> verify(secret, body, Duration.ZERO));
        }
    }

    @Nested
    final class Receipt {
        private final JsonObject vector = readJson("receipt.json");
        private final String jws = vector.get("jws").getAsString();
        private final String statement = vector.get("statement").toString();
        private final byte[] key = readKey();
        private final List<ByteString> log = new ArrayList<>();

        Receipt() {
            read("log.jsonl").lines().forEach(line -> {
                JsonObject entry = JsonParser.parseString(line).getAsJsonObject();
                byte[] bytes = Base64.getDecoder().decode(entry.get("bytes").getAsString());
                log.add(ByteString.copyFrom(bytes));
            });
        }

        private static byte[] readKey() {
            JsonElement jwk = readJson("jwks.json").getAsJsonArray("keys").get(0);
            return Base64.getUrlDecoder().decode(jwk.getAsJsonObject().get("x").getAsString());
        }

        private JsonObject verify(String signed, String copy) {
            GetReceiptResponse receipt = GetReceiptResponse.newBuilder()
                    .setJws(signed)
                    .setStatement(copy)
                    .build();
            return Runnel.verifyReceipt(receipt, log, key);
        }

        @Test
        void givesTheSignedStatement() {
            JsonObject signed = verify(jws, statement);
            assertEquals(JsonParser.parseString(statement), signed);
            assertEquals(log.size(), signed.get("entries").getAsInt());
        }

        @Test
        void isRefusedWithAnyOtherLog() {
            ByteString entry = log.remove(70);
            assertRefused("LOG_CHANGED", () -> verify(jws, statement));
            log.add(71, entry);
            assertRefused("LOG_CHANGED", () -> verify(jws, statement));
            log.remove(71);
            log.add(70, entry);
            log.add(entry);
            assertRefused("LOG_CHANGED", () -> verify(jws, statement));
            log.remove(log.size() - 1);
            assertDoesNotThrow(() -> verify(jws, statement));
            ByteString last = log.remove(log.size() - 1);
            assertRefused("LOG_CHANGED", () -> verify(jws, statement));
            log.add(last.concat(ByteString.copyFrom(new byte[] {0x30, 1})));
            assertRefused("LOG_CHANGED", () -> verify(jws, statement));
        }

        @Test
        void isRefusedWithAChangedStatement() {
            String changed = statement.replace("completed\"", "failed\"");
            assertRefused("RECEIPT_STATEMENT_CHANGED", () -> verify(jws, changed));
            assertRefused("RECEIPT_STATEMENT_CHANGED", () -> verify(jws, "{}"));
            String[] parts = jws.split("\\.", -1);
            String payload =
                    Base64.getUrlEncoder().withoutPadding().encodeToString(changed.getBytes(StandardCharsets.UTF_8));
            String forged = parts[0] + "." + payload + "." + parts[2];
            assertRefused("RECEIPT_SIGNATURE_INVALID", () -> verify(forged, changed));
        }

        @Test
        void isRefusedWithAnotherKey() {
            key[0] ^= 1;
            assertRefused("RECEIPT_KEY_OTHER", () -> verify(jws, statement));
        }

        @Test
        void hasOneFormOnly() {
            assertRefused("RECEIPT_INVALID", () -> verify(jws + "=", statement));
            assertRefused("RECEIPT_INVALID", () -> verify("a receipt", statement));
        }
    }
}
