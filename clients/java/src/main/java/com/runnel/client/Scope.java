package com.runnel.client;

import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The life of one call with all its attempts: its deadline and its cancellation. Any thread may close it; the thread that works
 * in it then gets CANCELLED, also while it waits.
 */
final class Scope {
    private static final long NEVER = Long.MAX_VALUE;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition closing = lock.newCondition();
    private final long startNanos = System.nanoTime();
    private final long timeoutNanos;
    private boolean closed;
    private Runnable cancelAttempt = () -> {};
    /** Why the last attempt failed; null before. */
    private RunnelException lastFailure;

    /** Starts a scope. Null means no deadline. */
    Scope(Duration timeout) {
        timeoutNanos = timeout == null ? NEVER : timeout.toNanos();
    }

    /** Cancels the call, and its attempt that is under way. */
    void close() {
        Runnable cancel;
        lock.lock();
        try {
            closed = true;
            cancel = cancelAttempt;
            closing.signalAll();
        } finally {
            lock.unlock();
        }
        cancel.run();
    }

    /** Sets what cancels the attempt that is under way. */
    void attach(Runnable cancel) {
        boolean late;
        lock.lock();
        try {
            cancelAttempt = cancel;
            late = closed;
        } finally {
            lock.unlock();
        }
        if (late) {
            cancel.run();
        }
    }

    /** Throws when the call is cancelled or its deadline has passed. */
    void check() {
        lock.lock();
        try {
            if (closed) {
                throw RunnelException.of(Status.Code.CANCELLED, "", "the call was closed");
            }
        } finally {
            lock.unlock();
        }
        if (remainingNanos() <= 0) {
            String why = lastFailure == null ? "" : "; the last attempt failed: " + lastFailure.getMessage();
            String message = "the deadline of the call has passed" + why;
            throw RunnelException.of(Status.Code.DEADLINE_EXCEEDED, "", message, lastFailure);
        }
    }

    long remainingNanos() {
        return timeoutNanos == NEVER ? NEVER : timeoutNanos - (System.nanoTime() - startNanos);
    }

    /** Returns the time until the deadline, but at most so much. */
    long remainingNanos(Duration most) {
        return Math.min(remainingNanos(), most.toNanos());
    }

    /** Waits after an attempt that failed. Throws as {@link #check} does. */
    void sleep(Duration delay, RunnelException failure) {
        lastFailure = failure;
        lock.lock();
        try {
            long nanos = remainingNanos(delay);
            while (!closed && nanos > 0) {
                nanos = closing.awaitNanos(nanos);
            }
        } catch (InterruptedException interrupt) {
            throw interrupted(interrupt);
        } finally {
            lock.unlock();
        }
        check();
    }

    /** Keeps the thread interrupted, and returns the error of its call. */
    static RunnelException interrupted(InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        return RunnelException.of(Status.Code.CANCELLED, "", "the thread was interrupted", interrupt);
    }
}
