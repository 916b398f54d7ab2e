package com.runnel.client;

import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.runnel.v1.GetReceiptResponse;
import com.runnel.v1.SendMessageRequest;
import com.runnel.v1.SendMessageResponse;
import com.runnel.v1.SessionServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A client of Runnel. Threads may share it.
 *
 * <pre>{@code
 * try (Runnel runnel = Runnel.connect("http://127.0.0.1:8090", Credentials.none())) {
 *     String run = runnel.send(session, "Say hello.").getRunId();
 *     for (Result result : runnel.follow(run)) {
 *         System.out.print(result.text());
 *     }
 * }
 * }</pre>
 *
 * <p>Calls that are safe to repeat are repeated when their answer was lost, within a minute or the timeout that you set. That
 * are all calls that only read, and those that create something: the library gives them an idempotency key. Every failure is a
 * {@link RunnelException}.
 */
public final class Runnel implements AutoCloseable {
    /** The service sends something every 15 s. */
    private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(45);
    /** For calls that answer once. Streams have no deadline of their own. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(60);

    private final ManagedChannel channel;
    private final Caller caller;
    private final Duration timeout;
    private final Duration idleTimeout;

    private Runnel(ManagedChannel channel, Caller caller, Duration timeout, Duration idleTimeout) {
        this.channel = channel;
        this.caller = caller;
        this.timeout = timeout;
        this.idleTimeout = idleTimeout;
    }

    /**
     * Makes a client. It dials with the first call.
     *
     * @param url URL of the service, such as {@code https://runnel.example}, without a path. With {@code https} the JDK's trust
     *     store decides which certificates are valid
     * @param credentials who calls
     * @return the client
     * @throws IllegalArgumentException when the URL is invalid
     */
    public static Runnel connect(String url, Credentials credentials) {
        URI uri = URI.create(url);
        boolean isPlain = "http".equalsIgnoreCase(uri.getScheme());
        boolean hasScheme = isPlain || "https".equalsIgnoreCase(uri.getScheme());
        boolean hasPath = uri.getPath() != null
                && !uri.getPath().isEmpty()
                && !uri.getPath().equals("/");
        if (!hasScheme || uri.getHost() == null || hasPath) {
            throw new IllegalArgumentException(
                    "invalid url: " + url + ": it must be http:// or https:// with a host and no path");
        }
        int port = uri.getPort() == -1 ? (isPlain ? 80 : 443) : uri.getPort();
        // gRPC would repeat calls whose connection was reset, also those that the service has received.
        OkHttpChannelBuilder builder =
                OkHttpChannelBuilder.forAddress(uri.getHost(), port).disableRetry();
        return over((isPlain ? builder.usePlaintext() : builder).build(), credentials);
    }

    /**
     * Makes a client over a channel of your own: with certificates, a proxy or a transport of your choice. Build it with {@code
     * disableRetry()}: gRPC repeats calls that may have had their effect, and this library only those that are safe to repeat.
     *
     * @param channel the channel, which the client closes
     * @param credentials who calls
     * @return the client
     */
    public static Runnel over(ManagedChannel channel, Credentials credentials) {
        return new Runnel(channel, new Caller(channel, credentials), null, IDLE_TIMEOUT);
    }

    /**
     * Returns a client whose calls have a deadline each: also {@code follow} and {@code ask} as a whole. It shares the
     * connection; closing one closes both.
     *
     * @param timeout time from the start of a call to {@code DEADLINE_EXCEEDED}
     * @return the client
     */
    public Runnel withTimeout(Duration timeout) {
        return new Runnel(channel, caller, timeout, idleTimeout);
    }

    /**
     * Returns a client that gives up a silent stream sooner or later than after 45 s. {@code follow} then opens it again. It
     * shares the connection; closing one closes both.
     *
     * @param idleTimeout longest silence; the service sends something every 15 s
     * @return the client
     */
    public Runnel withIdleTimeout(Duration idleTimeout) {
        return new Runnel(channel, caller, timeout, idleTimeout);
    }

    /**
     * Returns the calls on sessions.
     *
     * @return the calls of {@code SessionService}
     */
    public Sessions sessions() {
        return new Sessions(this);
    }

    /**
     * Returns the calls on runs.
     *
     * @return the calls of {@code RunService}
     */
    public Runs runs() {
        return new Runs(this);
    }

    /**
     * Returns the calls on approvals.
     *
     * @return the calls of {@code ApprovalService}
     */
    public Approvals approvals() {
        return new Approvals(this);
    }

    /**
     * Makes any other unary call, such as {@code call(ReceiptServiceGrpc.getGetReceiptMethod(), request)}.
     *
     * @param <Q> type of the request
     * @param <R> type of the response
     * @param method method of a generated service class
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public <Q extends Message, R> R call(MethodDescriptor<Q, R> method, Q request) {
        return caller.call(method, request, new Scope(timeout == null ? CALL_TIMEOUT : timeout));
    }

    /**
     * Opens any stream. It ends with its connection.
     *
     * @param <Q> type of the request
     * @param <R> type of the responses
     * @param method method of a generated service class
     * @param request the request
     * @return the responses; close it to end the call early
     * @throws RunnelException when the call fails
     */
    public <Q extends Message, R> ResponseStream<R> stream(MethodDescriptor<Q, R> method, Q request) {
        return caller.stream(method, request, new Scope(timeout), idleTimeout);
    }

    /**
     * Sends a message, which starts a run.
     *
     * @param sessionId id of the session
     * @param message the task or question
     * @return the accepted run
     * @throws RunnelException when the message is refused, or no answer arrives in time
     */
    public SendMessageResponse send(String sessionId, String message) {
        return send(requestOf(sessionId, message));
    }

    /**
     * Sends messages with all that the contract offers: a history, images, settings of this run.
     *
     * @param request the request; a {@code request_id} is added when it has none
     * @return the accepted run
     * @throws RunnelException when the request is refused, or no answer arrives in time
     */
    public SendMessageResponse send(SendMessageRequest request) {
        return call(SessionServiceGrpc.getSendMessageMethod(), request);
    }

    /**
     * Follows a run from its first result.
     *
     * @param runId id of the run
     * @return the results; close it to stop early
     */
    public RunStream follow(String runId) {
        return follow(runId, 0);
    }

    /**
     * Follows a run.
     *
     * @param runId id of the run
     * @param after sequence of the last result that you have; 0 means from the first one
     * @return the results; close it to stop early
     */
    public RunStream follow(String runId, long after) {
        return new RunStream(caller, new Scope(timeout), idleTimeout, after, end -> end == null ? runId : null);
    }

    /**
     * Asks a question that the model may answer with the help of functions of this program. The thread that reads the results
     * runs the functions; their results start the next run, until a run ends without calls.
     *
     * @param sessionId id of the session
     * @param message the question
     * @param functions the functions, which replace the tools of the session for this question
     * @return the results of all these runs; close it to stop early
     */
    public RunStream ask(String sessionId, String message, List<LocalFunction> functions) {
        return ask(requestOf(sessionId, message), functions);
    }

    /**
     * Asks a question with all that the contract offers.
     *
     * @param question the question; the functions join the {@code tools} of its {@code agent}
     * @param functions the functions
     * @return the results of all these runs; close it to stop early
     */
    public RunStream ask(SendMessageRequest question, List<LocalFunction> functions) {
        Scope scope = new Scope(timeout);
        Conversation runs = new Conversation(caller, scope, question, functions);
        return new RunStream(caller, scope, idleTimeout, 0, runs);
    }

    /**
     * Checks that a status callback was sent by the service within the last two minutes. Its {@code callback_id} shows whether
     * you have had it before.
     *
     * @param secret first key of the client in the service's settings, or the shared secret
     * @param headers headers of the request, in any case
     * @param body body of the request, byte for byte
     * @throws RunnelException with {@code INVALID_ARGUMENT} and a reason when the callback is invalid
     */
    public static void verifyCallback(String secret, Map<String, String> headers, byte[] body) {
        verifyCallback(secret, headers, body, Clock.systemUTC());
    }

    /**
     * Checks a status callback at the time of a clock.
     *
     * @param secret first key of the client in the service's settings, or the shared secret
     * @param headers headers of the request, in any case
     * @param body body of the request, byte for byte
     * @param clock the clock
     * @throws RunnelException with {@code INVALID_ARGUMENT} and a reason when the callback is invalid
     */
    public static void verifyCallback(String secret, Map<String, String> headers, byte[] body, Clock clock) {
        StatusCallbacks.verify(secret, headers, body, clock);
    }

    /**
     * Checks a receipt and the log that it is about, without the service.
     *
     * @param receipt the receipt, as {@code ReceiptService.GetReceipt} returned it
     * @param results the whole log: {@link Result#bytes()} of each result, in order
     * @param publicKey the 32 bytes of the service's key: {@code x} of a key of {@code ReceiptService.GetJwks}
     * @return the statement that the service has signed, as docs/signed-jobs.md describes it
     * @throws RunnelException with {@code INVALID_ARGUMENT} and a reason when the receipt or the log is not the signed one
     */
    public static JsonObject verifyReceipt(GetReceiptResponse receipt, List<ByteString> results, byte[] publicKey) {
        return Receipts.verify(receipt, results, publicKey);
    }

    /** Closes the connection and cancels all calls. */
    @Override
    public void close() {
        channel.shutdownNow();
    }

    private static SendMessageRequest requestOf(String sessionId, String message) {
        return SendMessageRequest.newBuilder()
                .setSessionId(sessionId)
                .setMessage(message)
                .build();
    }
}
