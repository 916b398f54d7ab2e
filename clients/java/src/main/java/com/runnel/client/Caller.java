package com.runnel.client;

import com.google.protobuf.DescriptorProtos.MethodOptions.IdempotencyLevel;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Makes calls on one channel: with credentials for each attempt, and again when an answer was lost. */
final class Caller {
    /** An answer that takes longer is lost: the service answers unary calls at once. */
    private static final Duration ATTEMPT_MOST = Duration.ofSeconds(20);

    /** The largest response of the service is 4 MiB, and some bytes around it. */
    private static final int MESSAGE_BYTES_MAX = 16 << 20;

    private final ManagedChannel channel;
    private final Credentials credentials;

    Caller(ManagedChannel channel, Credentials credentials) {
        this.channel = channel;
        this.credentials = credentials;
    }

    /** Makes a unary call. Repeats it while that is safe and the failure may pass. */
    <Q extends Message, R> R call(MethodDescriptor<Q, R> method, Q request, Scope scope) {
        FieldDescriptor key = request.getDescriptorForType().findFieldByName("request_id");
        Q sent = key == null ? request : withKey(request, key);
        boolean repeatable = key != null || isIdempotent(method);
        Backoff backoff = new Backoff();
        while (true) {
            scope.check();
            try {
                return attempt(method, sent, scope);
            } catch (RunnelException error) {
                if (!repeatable || error.isUsedUp() || isEnd(error, scope)) {
                    throw error;
                }
                scope.sleep(backoff.after(error), error);
                renew();
            }
        }
    }

    /** Opens a stream. */
    <Q extends Message, R> ResponseStream<R> stream(
            MethodDescriptor<Q, R> method, Q request, Scope scope, Duration idleTimeout) {
        scope.check();
        return new ResponseStream<>(newCall(method, request), request, scope, idleTimeout);
    }

    /** Returns whether an error ends the call of this scope. */
    boolean isEnd(RunnelException error, Scope scope) {
        if (error.isFinal() || Thread.currentThread().isInterrupted()) {
            return true;
        }
        // These have errors of their own.
        scope.check();
        if (channel.isShutdown()) {
            throw RunnelException.of(Status.Code.CANCELLED, "", "the client was closed", error);
        }
        return false;
    }

    /**
     * Makes the channel dial at once. Its own wait between two dials grows to two minutes, and calls fail meanwhile. Calls that
     * are under way stay on their connection.
     */
    void renew() {
        if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
            channel.enterIdle();
        }
    }

    /** Makes the channel leave its connection, which may be dead although no one has closed it. */
    void reconnect() {
        channel.enterIdle();
    }

    private <Q extends Message, R> R attempt(MethodDescriptor<Q, R> method, Q request, Scope scope) {
        Future<R> answer = ClientCalls.futureUnaryCall(newCall(method, request), request);
        scope.attach(() -> answer.cancel(true));
        try {
            return answer.get(scope.remainingNanos(ATTEMPT_MOST), TimeUnit.NANOSECONDS);
        } catch (ExecutionException error) {
            scope.check();
            throw read(error.getCause());
        } catch (TimeoutException lost) {
            answer.cancel(true);
            scope.check();
            reconnect();
            throw RunnelException.of(
                    Status.Code.UNAVAILABLE, "", "no answer within " + ATTEMPT_MOST.toSeconds() + " s", lost);
        } catch (CancellationException closed) {
            scope.check();
            throw closed;
        } catch (InterruptedException interrupt) {
            answer.cancel(true);
            throw Scope.interrupted(interrupt);
        }
    }

    private <Q extends Message, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, Q request) {
        String path = "/" + method.getFullMethodName();
        CallOptions options = CallOptions.DEFAULT
                .withMaxInboundMessageSize(MESSAGE_BYTES_MAX)
                .withCallCredentials(credentials.of(path, request.toByteArray()));
        return channel.newCall(method, options);
    }

    private static RunnelException read(Throwable cause) {
        if (cause instanceof StatusRuntimeException failure) {
            Metadata trailers = failure.getTrailers();
            return RunnelException.from(failure.getStatus(), trailers == null ? new Metadata() : trailers);
        }
        return RunnelException.of(Status.Code.UNKNOWN, "", String.valueOf(cause), cause);
    }

    /** Sets the idempotency key of a create, unless its caller has set one. */
    @SuppressWarnings("unchecked") // A builder builds what it was made from.
    private static <Q extends Message> Q withKey(Q request, FieldDescriptor key) {
        if (!((String) request.getField(key)).isEmpty()) {
            return request;
        }
        return (Q)
                request.toBuilder().setField(key, UUID.randomUUID().toString()).build();
    }

    private static boolean isIdempotent(MethodDescriptor<?, ?> method) {
        return method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier schema
                && schema.getMethodDescriptor().getOptions().getIdempotencyLevel()
                        != IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
    }
}
