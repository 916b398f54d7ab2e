package com.runnel.client;

import com.runnel.v1.Message;
import com.runnel.v1.Run;
import com.runnel.v1.RunCompleted;
import com.runnel.v1.RunFailed;
import com.runnel.v1.RunResult;

/**
 * How a run ended.
 *
 * @param state {@code STATE_COMPLETED}, {@code STATE_FAILED} or {@code STATE_CANCELLED}
 * @param text the text of the run's messages that were followed, without void parts
 * @param output the run's output, as the service states it
 * @param code the finish reason of a completed run, or the failure code, such as {@code runner.timeout}
 * @param error the description of the failure; empty for a completed run
 */
public record RunEnd(Run.State state, String text, String output, String code, String error) {
    /** Reads a terminal result. */
    static RunEnd of(RunResult terminal, String text) {
        if (terminal.hasRunCompleted()) {
            RunCompleted end = terminal.getRunCompleted();
            String output = end.hasMessage() ? textOf(end.getMessage()) : end.getOutput();
            return new RunEnd(Run.State.STATE_COMPLETED, text, output, end.getFinishReason(), "");
        }
        RunFailed end = terminal.getRunFailed();
        Run.State state = end.getCode().equals("cancelled") ? Run.State.STATE_CANCELLED : Run.State.STATE_FAILED;
        return new RunEnd(state, text, end.getOutput(), end.getCode(), end.getError());
    }

    private static String textOf(Message message) {
        if (!message.hasParts()) {
            return message.getText();
        }
        StringBuilder text = new StringBuilder();
        message.getParts().getElementsList().forEach(part -> text.append(part.getText()));
        return text.toString();
    }
}
