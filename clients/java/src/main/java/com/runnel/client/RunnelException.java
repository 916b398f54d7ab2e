package com.runnel.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The failure of a call or of a check. Every method of this library that fails throws it. */
public final class RunnelException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Status code of the call. */
    private final Status.Code code;
    /** The message alone; `getMessage` has the code and the reason too. */
    private final String message;
    /** The service's reason. */
    private final String reason;
    /** Details of the reason. Not part of the serialized form. */
    private final transient Map<String, String> metadata;
    /** Refused fields. Not part of the serialized form. */
    private final transient List<Violation> violations;
    /** The wait that the service asks for; null when it asks for none. */
    private final Duration retryAfter;

    /**
     * A field that the service refused.
     *
     * @param field path of the field, such as {@code agent.name}
     * @param description what is wrong with it
     */
    public record Violation(String field, String description) {}

    private RunnelException(
            Status.Code code,
            String message,
            String reason,
            Map<String, String> metadata,
            List<Violation> violations,
            Duration retryAfter,
            Throwable cause) {
        super(code + (reason.isEmpty() ? "" : " (" + reason + ")") + ": " + message, cause);
        this.message = message;
        this.code = code;
        this.reason = reason;
        this.metadata = Map.copyOf(metadata);
        this.violations = List.copyOf(violations);
        this.retryAfter = retryAfter;
    }

    /** Makes an error of this library. */
    static RunnelException of(Status.Code code, String reason, String message) {
        return of(code, reason, message, null);
    }

    /** Makes an error of this library with its cause. */
    static RunnelException of(Status.Code code, String reason, String message, Throwable cause) {
        return new RunnelException(code, message, reason, Map.of(), List.of(), null, cause);
    }

    /** Reads the end of a call with its details. Details that are unreadable are left out. */
    static RunnelException from(Status status, Metadata trailers) {
        String reason = "";
        Map<String, String> metadata = Map.of();
        List<Violation> violations = new ArrayList<>();
        Duration retryAfter = null;
        for (Any detail : detailsOf(status, trailers)) {
            try {
                if (detail.is(ErrorInfo.class)) {
                    ErrorInfo info = detail.unpack(ErrorInfo.class);
                    reason = info.getReason();
                    metadata = info.getMetadataMap();
                } else if (detail.is(BadRequest.class)) {
                    for (BadRequest.FieldViolation each :
                            detail.unpack(BadRequest.class).getFieldViolationsList()) {
                        violations.add(new Violation(each.getField(), each.getDescription()));
                    }
                } else if (detail.is(RetryInfo.class)) {
                    com.google.protobuf.Duration delay =
                            detail.unpack(RetryInfo.class).getRetryDelay();
                    retryAfter = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
                }
            } catch (InvalidProtocolBufferException unreadable) {
                // The code and the message are still there.
            }
        }
        String message = status.getDescription() == null ? "" : status.getDescription();
        return new RunnelException(
                status.getCode(), message, reason, metadata, violations, retryAfter, status.getCause());
    }

    private static List<Any> detailsOf(Status status, Metadata trailers) {
        try {
            com.google.rpc.Status details = StatusProto.fromStatusAndTrailers(status, trailers);
            return details == null ? List.of() : details.getDetailsList();
        } catch (IllegalArgumentException otherStatus) {
            return List.of();
        }
    }

    /**
     * Returns the code of the call.
     *
     * @return the gRPC status code
     */
    public Status.Code code() {
        return code;
    }

    /**
     * Returns the message, for people.
     *
     * @return the message, without the code and the reason that {@code getMessage} puts before it
     */
    public String message() {
        return message;
    }

    /**
     * Returns the reason, such as {@code RUN_NOT_FOUND}.
     *
     * @return the reason; empty when the failure has none, as that of a lost connection
     */
    public String reason() {
        return reason;
    }

    /**
     * Returns the details of the reason.
     *
     * @return the details by name
     */
    public Map<String, String> metadata() {
        return metadata == null ? Map.of() : metadata;
    }

    /**
     * Returns the fields that the service refused.
     *
     * @return the refused fields, in the order of the service
     */
    public List<Violation> violations() {
        return violations == null ? List.of() : violations;
    }

    /**
     * Returns how long the service asks its callers to wait.
     *
     * @return the wait; empty when the service asks for none
     */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /** Returns whether the same call would get the same answer again. */
    boolean isFinal() {
        return switch (code) {
            case INVALID_ARGUMENT,
                    UNAUTHENTICATED,
                    PERMISSION_DENIED,
                    NOT_FOUND,
                    ALREADY_EXISTS,
                    OUT_OF_RANGE,
                    FAILED_PRECONDITION,
                    UNIMPLEMENTED,
                    DATA_LOSS -> true;
            default -> false;
        };
    }

    /** Returns whether the service refuses a call for a quota or a size, and names no time after which it would not. */
    boolean isUsedUp() {
        return code == Status.Code.RESOURCE_EXHAUSTED && !reason.isEmpty() && retryAfter == null;
    }
}
