package com.runnel.client;

import com.google.gson.JsonObject;
import com.runnel.v1.FunctionTool;

/**
 * A function of this program that the model may call: {@link Runnel#ask}.
 *
 * @param name name that the model uses: letters, digits, {@code _} and {@code -}
 * @param description what the function does, for the model
 * @param parameters JSON Schema of the arguments; empty for a function without arguments
 * @param handler the code
 */
public record LocalFunction(String name, String description, String parameters, Handler handler) {
    /** The code of a function. */
    @FunctionalInterface
    public interface Handler {
        /**
         * Runs the function. The model learns the message of what it throws.
         *
         * @param arguments the arguments, as the model chose them
         * @return the result, for the model
         * @throws Exception when the function fails
         */
        String call(JsonObject arguments) throws Exception;
    }

    FunctionTool toProto() {
        return FunctionTool.newBuilder()
                .setName(name)
                .setDescription(description)
                .setParameters(parameters)
                .build();
    }
}
