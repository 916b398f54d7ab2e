package com.runnel.client;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.runnel.v1.Message;
import com.runnel.v1.SendMessageRequest;
import com.runnel.v1.SessionServiceGrpc;
import com.runnel.v1.ToolCall;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The runs of one question: each run after the first one has the results of the functions that the run before it called. */
final class Conversation implements RunStream.Runs {
    private final Caller caller;
    private final Scope scope;
    private final SendMessageRequest question;
    private final Map<String, LocalFunction> functions;
    private String runId = "";

    Conversation(Caller caller, Scope scope, SendMessageRequest question, List<LocalFunction> functions) {
        this.caller = caller;
        this.scope = scope;
        this.functions = functions.stream().collect(Collectors.toMap(LocalFunction::name, Function.identity()));
        SendMessageRequest.Builder builder = question.toBuilder();
        functions.forEach(each -> builder.getAgentBuilder().getToolsBuilder().addFunctions(each.toProto()));
        this.question = builder.build();
    }

    @Override
    public String after(Result terminal) {
        if (terminal == null) {
            return send(question);
        }
        List<ToolCall> calls = terminal.message().getRunCompleted().getPendingToolCallsList();
        if (calls.isEmpty()) {
            return null;
        }
        // The settings of a run are for one run. The rest is the question's own.
        SendMessageRequest.Builder answer = SendMessageRequest.newBuilder()
                .setSessionId(question.getSessionId())
                .setPriority(question.getPriority())
                .setAfterRunId(runId);
        if (question.hasAgent()) {
            answer.setAgent(question.getAgent());
        }
        for (ToolCall call : calls) {
            scope.check();
            answer.addMessages(run(call));
        }
        return send(answer.build());
    }

    private String send(SendMessageRequest request) {
        runId = caller.call(SessionServiceGrpc.getSendMessageMethod(), request, scope)
                .getRunId();
        return runId;
    }

    /** Runs a function. Its failure is a result too: the model decides what follows. */
    private Message run(ToolCall call) {
        Message.Builder result = Message.newBuilder().setRole("tool").setToolCallId(call.getId());
        LocalFunction function = functions.get(call.getName());
        if (function == null) {
            return result.setText("unknown function: " + call.getName())
                    .setIsError(true)
                    .build();
        }
        try {
            return result.setText(function.handler().call(readArguments(call.getArguments())))
                    .build();
        } catch (Exception failure) {
            String message = failure.getMessage();
            return result.setText(message == null ? failure.getClass().getSimpleName() : message)
                    .setIsError(true)
                    .build();
        }
    }

    private static JsonObject readArguments(String text) {
        if (text.isBlank()) {
            return new JsonObject();
        }
        JsonElement arguments = JsonParser.parseString(text);
        if (!arguments.isJsonObject()) {
            throw new JsonParseException("invalid arguments: they must be a JSON object");
        }
        return arguments.getAsJsonObject();
    }
}
