package com.runnel.client;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The responses of one streaming call, as the service sends them. It ends with the connection: {@link Runnel#follow(String)}
 * continues by itself. One thread reads; any thread may close.
 *
 * @param <R> type of the responses
 */
public final class ResponseStream<R> implements Iterator<R>, AutoCloseable {
    /** What the call delivers: a response, or its end. */
    private record Event<R>(R response, Status status, Metadata trailers) {}

    private final ClientCall<?, R> call;
    private final Scope scope;
    private final Duration idleTimeout;
    /** At most one response and the end: each response is requested when the one before was taken. */
    private final BlockingQueue<Event<R>> events = new LinkedBlockingQueue<>();

    private R ahead;
    private boolean ended;
    private boolean silent;

    /** Opens the call. */
    <Q> ResponseStream(ClientCall<Q, R> call, Q request, Scope scope, Duration idleTimeout) {
        this.call = call;
        this.scope = scope;
        this.idleTimeout = idleTimeout;
        scope.attach(() -> cancel("the call was closed"));
        call.start(new Listener<>(events), new Metadata());
        call.request(1);
        call.sendMessage(request);
        call.halfClose();
    }

    /** Passes what arrives to the reader. */
    private static final class Listener<R> extends ClientCall.Listener<R> {
        private final BlockingQueue<Event<R>> events;

        Listener(BlockingQueue<Event<R>> events) {
            this.events = events;
        }

        @Override
        public void onMessage(R response) {
            events.add(new Event<>(response, null, null));
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            events.add(new Event<>(null, status, trailers));
        }
    }

    /**
     * Waits for the next response. Returns false when the service has ended the stream with OK.
     *
     * @throws RunnelException when the stream breaks, is refused, is silent for too long, or was closed
     */
    @Override
    public boolean hasNext() {
        if (ahead == null && !ended) {
            ahead = take();
        }
        return ahead != null;
    }

    /**
     * Waits for the next response and returns it.
     *
     * @throws RunnelException as {@link #hasNext()} does
     */
    @Override
    public R next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the stream has ended");
        }
        R response = ahead;
        ahead = null;
        return response;
    }

    /** Cancels the call. Does nothing when it has ended. */
    @Override
    public void close() {
        cancel("the stream was closed");
    }

    /** Returns whether the stream was given up because nothing arrived for too long. */
    boolean isSilent() {
        return silent;
    }

    private void cancel(String why) {
        call.cancel(why, null);
    }

    /** Returns the next response; null after the end. */
    private R take() {
        Event<R> event = poll();
        if (event == null) {
            ended = true;
            silent = true;
            cancel("the stream is silent");
            // The deadline may have passed before the idle timeout.
            scope.check();
            throw RunnelException.of(
                    Status.Code.UNAVAILABLE, "", "the service was silent for " + idleTimeout.toMillis() + " ms");
        }
        if (event.response() != null) {
            call.request(1);
            return event.response();
        }
        ended = true;
        scope.check();
        if (event.status().isOk()) {
            return null;
        }
        throw RunnelException.from(event.status(), event.trailers());
    }

    private Event<R> poll() {
        try {
            return events.poll(scope.remainingNanos(idleTimeout), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupt) {
            ended = true;
            cancel("the thread was interrupted");
            throw Scope.interrupted(interrupt);
        }
    }
}
