package com.runnel.client;

import com.runnel.v1.MessageChunk;
import java.util.ArrayList;
import java.util.List;

/** The text of a run so far, without void parts: docs/resuming.md, "Text that is void". */
final class RunText {
    private record Piece(long sequence, String text) {}

    private final List<Piece> pieces = new ArrayList<>();
    /** The last `message.completed`: a chunk that replaces text replaces what came after it. */
    private long lastMessage;

    void take(Result result) {
        switch (result.message().getPayloadCase()) {
            case MESSAGE_DELTA -> {
                MessageChunk chunk = result.message().getMessageDelta().getChunk();
                if (chunk.getReplacesText()) {
                    dropFrom(lastMessage + 1);
                }
                pieces.add(new Piece(result.sequence(), chunk.getContent()));
            }
            case MESSAGE_COMPLETED -> lastMessage = result.sequence();
            case TURN_RESTARTED -> {
                long from = result.message().getTurnRestarted().getFromSequence();
                dropFrom(from);
                lastMessage = Math.min(lastMessage, from - 1);
            }
            default -> {
                // Other results have no text.
            }
        }
    }

    private void dropFrom(long sequence) {
        pieces.removeIf(piece -> piece.sequence() >= sequence);
    }

    /** Returns the text. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Piece piece : pieces) {
            text.append(piece.text());
        }
        return text.toString();
    }
}
