package com.runnel.client;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.runnel.v1.GetReceiptResponse;
import com.runnel.v1.SendMessageRequest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The subject of the conformance kit (test/clients): reads one request, makes its call, and prints what the library gives. */
public final class Subject {
    private static final LocalFunction ADD = new LocalFunction(
            "add",
            "Adds two integers.",
            """
            {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}""",
            arguments -> String.valueOf(
                    arguments.get("a").getAsLong() + arguments.get("b").getAsLong()));

    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final JsonObject request;

    private Subject(JsonObject request) {
        this.request = request;
    }

    /**
     * Reads the request from standard input.
     *
     * @param words unused
     * @throws IOException when standard input fails
     */
    public static void main(String[] words) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        new Subject(JsonParser.parseString(input.readLine()).getAsJsonObject()).run();
    }

    private void run() throws IOException {
        try {
            switch (text("call")) {
                case "callback" -> checkCallback();
                case "receipt" -> checkReceipt();
                default -> call();
            }
        } catch (RunnelException error) {
            JsonObject printed = new JsonObject();
            printed.addProperty("code", error.code().name());
            printed.addProperty("reason", error.reason());
            JsonObject metadata = new JsonObject();
            error.metadata().forEach(metadata::addProperty);
            printed.add("metadata", metadata);
            printed.addProperty("message", error.message());
            JsonArray violations = new JsonArray();
            for (RunnelException.Violation each : error.violations()) {
                JsonObject violation = new JsonObject();
                violation.addProperty("field", each.field());
                violation.addProperty("description", each.description());
                violations.add(violation);
            }
            printed.add("violations", violations);
            print("error", printed);
        }
    }

    private void call() {
        try (Runnel runnel = connect()) {
            switch (text("call")) {
                case "follow" -> print(runnel.follow(text("run_id"), number("after", 0)));
                case "ask" -> print(runnel.ask(text("session_id"), text("message"), List.of(ADD)));
                case "send" -> {
                    SendMessageRequest message = SendMessageRequest.newBuilder()
                            .setSessionId(text("session_id"))
                            .setMessage(text("message"))
                            .setRequestId(text("request_id"))
                            .build();
                    JsonObject run = new JsonObject();
                    run.addProperty("run_id", runnel.send(message).getRunId());
                    print("run", run);
                }
                default -> throw new IllegalArgumentException("unknown call: " + text("call"));
            }
        }
    }

    private void print(RunStream results) {
        long printed = 0;
        for (Result result : results) {
            JsonObject line = new JsonObject();
            line.addProperty("sequence", result.sequence());
            line.addProperty("type", result.type());
            print("result", line);
            printed++;
            if (printed == number("cancel_after", -1)) {
                results.close();
            }
        }
        RunEnd end = results.end();
        JsonObject line = new JsonObject();
        line.addProperty(
                "state", end.state().name().substring("STATE_".length()).toLowerCase(Locale.ROOT));
        line.addProperty("text", end.text());
        line.addProperty("output", end.output());
        print("end", line);
    }

    private Runnel connect() {
        Runnel runnel = Runnel.connect(text("url"), credentials());
        if (number("timeout_ms", 0) > 0) {
            runnel = runnel.withTimeout(Duration.ofMillis(number("timeout_ms", 0)));
        }
        if (number("idle_timeout_ms", 0) > 0) {
            runnel = runnel.withIdleTimeout(Duration.ofMillis(number("idle_timeout_ms", 0)));
        }
        return runnel;
    }

    private Credentials credentials() {
        JsonObject given = request.has("credentials") ? request.getAsJsonObject("credentials") : new JsonObject();
        if (given.has("api_key")) {
            return Credentials.apiKey(given.get("api_key").getAsString());
        }
        if (given.has("ticket")) {
            return Credentials.ticket(given.get("ticket").getAsString());
        }
        if (given.has("secret")) {
            return Credentials.hmac(
                    given.get("client_id").getAsString(), given.get("secret").getAsString());
        }
        return Credentials.none();
    }

    private void checkCallback() {
        Map<String, String> headers = new HashMap<>();
        request.getAsJsonObject("headers")
                .entrySet()
                .forEach(each -> headers.put(each.getKey(), each.getValue().getAsString()));
        Instant now = Instant.ofEpochMilli(number("now_ms", System.currentTimeMillis()));
        Runnel.verifyCallback(text("secret"), headers, bytes("body"), Clock.fixed(now, ZoneOffset.UTC));
        out.println("{\"valid\":true}");
    }

    private void checkReceipt() throws InvalidProtocolBufferException {
        List<ByteString> results = new ArrayList<>();
        for (JsonElement each : request.getAsJsonArray("results")) {
            results.add(ByteString.copyFrom(Base64.getDecoder().decode(each.getAsString())));
        }
        Runnel.verifyReceipt(GetReceiptResponse.parseFrom(bytes("receipt")), results, bytes("public_key"));
        out.println("{\"valid\":true}");
    }

    private void print(String name, JsonObject value) {
        JsonObject line = new JsonObject();
        line.add(name, value);
        out.println(line);
    }

    private JsonElement member(String name) {
        return request.has(name) ? request.get(name) : JsonNull.INSTANCE;
    }

    private String text(String name) {
        return member(name).isJsonNull() ? "" : member(name).getAsString();
    }

    private long number(String name, long otherwise) {
        return member(name).isJsonNull() ? otherwise : member(name).getAsLong();
    }

    private byte[] bytes(String name) {
        return Base64.getDecoder().decode(text(name));
    }
}
