package com.runnel.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.runnel.v1.RunResult;
import com.runnel.v1.RunServiceGrpc;
import com.runnel.v1.TailRunBytes;
import com.runnel.v1.TailRunRequest;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The results of a run, each once and in order, until the terminal one. It continues by itself after every failure that may
 * pass: docs/resuming.md has the rule. One thread reads; any thread may close.
 *
 * <p>It can be read once: {@link #iterator()}, {@link #stream()} and {@link #end()} continue where another one stopped.
 */
public final class RunStream implements Iterable<Result>, AutoCloseable {
    /** Results as their stored bytes. Both forms are the same on the wire. */
    private static final MethodDescriptor<TailRunRequest, TailRunBytes> TAIL_RUN =
            RunServiceGrpc.getTailRunMethod().toBuilder(
                            ProtoUtils.marshaller(TailRunRequest.getDefaultInstance()),
                            ProtoUtils.marshaller(TailRunBytes.getDefaultInstance()))
                    .build();

    /** Which run to follow next. */
    interface Runs {
        /** Returns the id of the next run, or null after the last one. The parameter is null before the first run. */
        String after(Result terminal);
    }

    private final Caller caller;
    private final Scope scope;
    private final Duration idleTimeout;
    private final Runs runs;

    private final Iterator<Result> iterator = new Results();
    private final Backoff backoff = new Backoff();
    /** Results that have arrived and were not handed out yet. */
    private final Queue<Result> arrived = new ArrayDeque<>();

    private ResponseStream<TailRunBytes> stream;
    private String runId;
    private long cursor;
    private boolean hasResults;
    private boolean hadEmptyEnd;
    private RunText text = new RunText();
    private Result terminal;
    private boolean ended;

    RunStream(Caller caller, Scope scope, Duration idleTimeout, long after, Runs runs) {
        this.caller = caller;
        this.scope = scope;
        this.idleTimeout = idleTimeout;
        this.cursor = after;
        this.runs = runs;
    }

    /**
     * Returns the results. {@code hasNext} and {@code next} wait for a result, and throw {@link RunnelException}: for an answer
     * that no retry changes, at the deadline, and with {@code CANCELLED} after {@link #close()}.
     *
     * @return the only iterator of this stream
     */
    @Override
    public Iterator<Result> iterator() {
        return iterator;
    }

    /**
     * Returns the results as a stream, which throws as {@link #iterator()} does.
     *
     * @return the results; closing it closes this stream
     */
    public Stream<Result> stream() {
        int traits = Spliterator.ORDERED | Spliterator.NONNULL;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(iterator, traits), false)
                .onClose(this::close);
    }

    /**
     * Returns the text of the results that were handed out, without void parts: when a turn began again, without what it had
     * written before.
     *
     * @return the text so far; of an {@code ask} with several runs, that of the run at hand
     */
    public String text() {
        return text.toString();
    }

    /**
     * Follows the run to its end and returns how it ended.
     *
     * @return the end of the run; of an {@code ask}, that of the last run
     * @throws RunnelException as {@link #iterator()} does, and with {@code OUT_OF_RANGE} when the run has nothing after the
     *     place from which it was followed
     */
    public RunEnd end() {
        iterator.forEachRemaining(result -> {});
        if (terminal == null) {
            throw RunnelException.of(Status.Code.OUT_OF_RANGE, "", "the run has no result after " + cursor);
        }
        return RunEnd.of(terminal.message(), text());
    }

    /** Stops following, in any thread. A reader that waits gets {@code CANCELLED}. The run continues. */
    @Override
    public void close() {
        scope.close();
    }

    /** Hands out results, one ahead. */
    private final class Results implements Iterator<Result> {
        private Result ahead;

        @Override
        public boolean hasNext() {
            if (ahead == null) {
                ahead = await();
            }
            return ahead != null;
        }

        @Override
        public Result next() {
            if (!hasNext()) {
                throw new NoSuchElementException("the run has ended");
            }
            Result result = ahead;
            ahead = null;
            text.take(result);
            return result;
        }
    }

    /** Waits for the next result. Returns null after the last one. */
    private Result await() {
        while (true) {
            if (ended && arrived.isEmpty()) {
                return null;
            }
            scope.check();
            Result next = arrived.poll();
            if (next != null) {
                terminal = next.isTerminal() ? next : null;
                return next;
            }
            if (runId == null || terminal != null) {
                moveOn();
            } else {
                read();
            }
        }
    }

    /** Goes to the next run, if there is one. */
    private void moveOn() {
        leaveStream();
        String next = runs.after(terminal);
        if (next == null) {
            ended = true;
            return;
        }
        if (runId != null) {
            cursor = 0;
            text = new RunText();
        }
        runId = next;
        terminal = null;
        backoff.reset();
    }

    /** Waits for the next response. Opens the stream again when it has broken, after a wait. */
    private void read() {
        try {
            if (stream == null) {
                TailRunRequest request = TailRunRequest.newBuilder()
                        .setRunId(runId)
                        .setAfter(cursor)
                        .build();
                stream = caller.stream(TAIL_RUN, request, scope, idleTimeout);
            }
            if (stream.hasNext()) {
                take(stream.next());
            } else {
                takeEnd();
            }
        } catch (RunnelException error) {
            boolean silent = stream != null && stream.isSilent();
            leaveStream();
            if (caller.isEnd(error, scope)) {
                throw error;
            }
            if (arrived.isEmpty()) {
                scope.sleep(backoff.after(error), error);
            }
            if (silent) {
                caller.reconnect();
            } else {
                caller.renew();
            }
        }
    }

    private void take(TailRunBytes response) {
        for (ByteString bytes : response.getResultsList()) {
            Result result = new Result(parse(bytes), bytes);
            if (result.sequence() <= cursor) {
                continue;
            }
            if (result.sequence() > cursor + 1) {
                throw RunnelException.of(
                        Status.Code.UNAVAILABLE,
                        "",
                        "the stream has a gap: result " + result.sequence() + " came after " + cursor);
            }
            cursor = result.sequence();
            hasResults = true;
            arrived.add(result);
            backoff.reset();
        }
    }

    /**
     * Takes an OK before the terminal result. A proxy may have ended the stream. Only a run that was followed from its very end has
     * nothing more: it says so twice.
     */
    private void takeEnd() {
        if (cursor > 0 && !hasResults && hadEmptyEnd) {
            leaveStream();
            ended = true;
            return;
        }
        hadEmptyEnd = true;
        throw RunnelException.of(Status.Code.UNAVAILABLE, "", "the stream ended before the terminal result");
    }

    private void leaveStream() {
        if (stream != null) {
            stream.close();
            stream = null;
        }
    }

    private static RunResult parse(ByteString bytes) {
        try {
            return RunResult.parseFrom(bytes);
        } catch (InvalidProtocolBufferException unreadable) {
            throw RunnelException.of(Status.Code.INTERNAL, "", "a result is unreadable", unreadable);
        }
    }
}
