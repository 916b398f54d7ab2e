package com.runnel.client;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import com.runnel.v1.GetReceiptResponse;
import com.runnel.v1.Run;
import com.runnel.v1.RunResult;
import io.grpc.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/**
 * Checks receipts offline. The statement is read from the signed bytes alone, and a text that differs from the one signed form
 * by a byte is refused.
 */
final class Receipts {
    private static final int KEY_BYTES = 32;
    /** The DER prefix of a raw Ed25519 key (RFC 8410). */
    private static final byte[] DER_PREFIX = HexFormat.of().parseHex("302a300506032b6570032100");

    private static final int MARK_BYTES = 8;
    private static final String STATEMENT_TYPE = "runnel.receipt.v1";

    private Receipts() {}

    static JsonObject verify(GetReceiptResponse receipt, List<ByteString> results, byte[] publicKey) {
        JsonObject statement = readStatement(receipt.getJws(), publicKey);
        checkCopy(receipt.getStatement(), statement);
        try {
            checkLog(statement, results);
        } catch (RuntimeException malformed) {
            if (malformed instanceof RunnelException refusal) {
                throw refusal;
            }
            // A member is missing or has another type.
            throw refuse("RECEIPT_INVALID", "the statement is malformed: " + malformed.getMessage());
        }
        return statement;
    }

    private static JsonObject readStatement(String jws, byte[] publicKey) {
        if (publicKey.length != KEY_BYTES) {
            throw refuse("RECEIPT_KEY_INVALID", "the public key must have " + KEY_BYTES + " bytes");
        }
        String[] parts = jws.split("\\.", -1);
        if (parts.length != 3) {
            throw refuse("RECEIPT_INVALID", "the receipt is not a compact JWS: it must have three parts");
        }
        if (!Arrays.equals(decode(parts[0], "header"), header(publicKey).getBytes(StandardCharsets.UTF_8))) {
            throw refuse("RECEIPT_KEY_OTHER", "the receipt is not one of this public key");
        }
        byte[] signed = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.UTF_8);
        if (!isSigned(signed, decode(parts[2], "signature"), publicKey)) {
            throw refuse("RECEIPT_SIGNATURE_INVALID", "invalid signature: the receipt was changed");
        }
        JsonElement statement = parse(new String(decode(parts[1], "statement"), StandardCharsets.UTF_8));
        if (!statement.isJsonObject() || !STATEMENT_TYPE.equals(text(statement.getAsJsonObject(), "type"))) {
            throw refuse("RECEIPT_INVALID", "the signed statement is not of the type " + STATEMENT_TYPE);
        }
        return statement.getAsJsonObject();
    }

    /** Returns the only header that a receipt of this key has. */
    private static String header(byte[] publicKey) {
        String x = Base64.getUrlEncoder().withoutPadding().encodeToString(publicKey);
        String jwk = "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"" + x + "\"}";
        String kid =
                Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(jwk.getBytes(StandardCharsets.UTF_8)));
        return "{\"alg\":\"EdDSA\",\"typ\":\"runnel-receipt+jws\",\"kid\":\"" + kid
                + "\",\"jwk\":{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" + x + "\"}}";
    }

    private static boolean isSigned(byte[] signed, byte[] signature, byte[] publicKey) {
        byte[] der = Arrays.copyOf(DER_PREFIX, DER_PREFIX.length + KEY_BYTES);
        System.arraycopy(publicKey, 0, der, DER_PREFIX.length, KEY_BYTES);
        try {
            Signature check = Signature.getInstance("Ed25519");
            check.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(der)));
            check.update(signed);
            return check.verify(signature);
        } catch (GeneralSecurityException invalid) {
            // A key that is no point of the curve, or a signature of another length.
            return false;
        }
    }

    /** The copy is for people. A program may have shown it, so it must say the same. */
    private static void checkCopy(String copy, JsonObject statement) {
        if (!copy.isEmpty() && !parse(copy).equals(statement)) {
            throw refuse("RECEIPT_STATEMENT_CHANGED", "the statement beside the signed one differs from it");
        }
    }

    private static void checkLog(JsonObject statement, List<ByteString> results) {
        long entries = statement.get("entries").getAsLong();
        long interval = statement.get("mark_interval").getAsLong();
        byte[] marks = Base64.getDecoder().decode(text(statement, "marks"));
        LogChain chain = new LogChain(text(statement, "run_id"));
        JsonObject counts = new JsonObject();
        for (int index = 0; index < results.size(); index++) {
            long place = index + 1L;
            if (place > entries) {
                throw refuse("LOG_CHANGED", "the log continues after entry " + entries + ", the last one");
            }
            ByteString bytes = results.get(index);
            chain.add(bytes);
            boolean isMarked = place % interval == 0 || place == entries;
            if (isMarked && !fitsMark(chain.value(), marks, (place - 1) / interval)) {
                throw refuse("LOG_CHANGED", "entry " + place + " or one before it differs from the logged one");
            }
            String type = typeOf(bytes);
            long count = counts.has(type) ? counts.get(type).getAsLong() : 0;
            counts.addProperty(type, count + 1);
        }
        if (results.size() < entries) {
            throw refuse("LOG_CHANGED", "the log ends after " + results.size() + " of " + entries + " entries");
        }
        if (!HexFormat.of().formatHex(chain.value()).equals(text(statement, "last_hash"))) {
            throw refuse("LOG_CHANGED", "the log as a whole differs from the signed one");
        }
        if (!counts.equals(statement.getAsJsonObject("counts"))) {
            throw refuse("LOG_CHANGED", "the statement's counts of types differ from the log");
        }
        checkEnd(statement, results.get(results.size() - 1));
    }

    private static boolean fitsMark(byte[] value, byte[] marks, long number) {
        int start = Math.toIntExact(number * MARK_BYTES);
        return start + MARK_BYTES <= marks.length
                && Arrays.equals(marks, start, start + MARK_BYTES, value, 0, MARK_BYTES);
    }

    /** Compares the stated end with the logged one: a signer could state another end than the log has. */
    private static void checkEnd(JsonObject statement, ByteString last) {
        String status = text(statement, "status");
        RunResult result = parseResult(last);
        boolean isTerminal = result.hasRunCompleted() || result.hasRunFailed();
        RunEnd end = RunEnd.of(result, "");
        // The log has the code alone: a runner may report `cancelled` without a request to cancel, and its run has then
        // failed.
        boolean isFailedRunner = status.equals("failed") && end.state() == Run.State.STATE_CANCELLED;
        boolean isStated = end.state().name().equals("STATE_" + status.toUpperCase(java.util.Locale.ROOT));
        if (!isTerminal || !end.code().equals(text(statement, "code")) || !(isStated || isFailedRunner)) {
            throw refuse("LOG_CHANGED", "the statement says that the run ended otherwise than the last entry");
        }
    }

    /** Returns the type of stored bytes, read from their tags. Of several payloads the last one counts. */
    private static String typeOf(ByteString bytes) {
        String unknown = Result.typeOf(0);
        String type = unknown;
        try {
            CodedInputStream input = bytes.newCodedInput();
            for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
                int number = WireFormat.getTagFieldNumber(tag);
                type = Result.isPayload(number) ? Result.typeOf(number) : type;
                input.skipField(tag);
            }
            return type;
        } catch (IOException unreadable) {
            return unknown;
        }
    }

    private static RunResult parseResult(ByteString bytes) {
        try {
            return RunResult.parseFrom(bytes);
        } catch (InvalidProtocolBufferException unreadable) {
            throw refuse("LOG_CHANGED", "the last entry is unreadable");
        }
    }

    private static byte[] decode(String part, String name) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(part);
            if (Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(part)) {
                return bytes;
            }
        } catch (IllegalArgumentException invalid) {
            // Refused below, as what has another form.
        }
        throw refuse("RECEIPT_INVALID", "the " + name + " is not base64url without padding");
    }

    private static JsonElement parse(String json) {
        try {
            return JsonParser.parseString(json);
        } catch (JsonParseException invalid) {
            throw refuse("RECEIPT_INVALID", "the statement is not JSON");
        }
    }

    /** Returns a member; empty when it is missing. */
    private static String text(JsonObject statement, String name) {
        return statement.has(name) ? statement.get(name).getAsString() : "";
    }

    private static RunnelException refuse(String reason, String message) {
        return RunnelException.of(Status.Code.INVALID_ARGUMENT, reason, message);
    }
}
