package com.runnel.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.runnel.options.v1.OptionsProto;
import com.runnel.v1.RunResult;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * An entry of a run's log.
 *
 * @param message the entry. Its {@code getPayloadCase()} says which type it has
 * @param bytes the entry as the service stores it, which {@link Runnel#verifyReceipt} checks
 */
public record Result(RunResult message, ByteString bytes) {
    private static final String UNKNOWN_TYPE = "unknown";

    /** The dotted names by the numbers of their fields. */
    private static final Map<Integer, String> TYPES = RunResult.getDescriptor().getOneofs().stream()
            .filter(oneof -> oneof.getName().equals("payload"))
            .flatMap(oneof -> oneof.getFields().stream())
            .collect(Collectors.toUnmodifiableMap(FieldDescriptor::getNumber, Result::nameOf));

    /**
     * Returns the place of the result in its log: 1, 2, 3 and so on.
     *
     * @return the sequence
     */
    public long sequence() {
        return message.getSequence();
    }

    /**
     * Returns the dotted type, such as {@code message.delta}.
     *
     * @return the type; {@code unknown} for a type that is newer than this library
     */
    public String type() {
        return typeOf(message.getPayloadCase().getNumber());
    }

    /**
     * Returns the piece of text that a {@code message.delta} has.
     *
     * @return the text; empty for other types
     */
    public String text() {
        return message.getMessageDelta().getChunk().getContent();
    }

    /**
     * Returns whether the result ends its run.
     *
     * @return true for {@code run.completed} and {@code run.failed}
     */
    public boolean isTerminal() {
        return message.hasRunCompleted() || message.hasRunFailed();
    }

    /** Returns the type of a payload by the number of its field. */
    static String typeOf(int fieldNumber) {
        return TYPES.getOrDefault(fieldNumber, UNKNOWN_TYPE);
    }

    /** Returns whether a field of an entry is a payload that this version knows. */
    static boolean isPayload(int fieldNumber) {
        return TYPES.containsKey(fieldNumber);
    }

    private static String nameOf(FieldDescriptor field) {
        return field.getOptions().getExtension(OptionsProto.result).getName();
    }
}
