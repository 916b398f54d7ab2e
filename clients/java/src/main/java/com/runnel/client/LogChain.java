package com.runnel.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Locale;

/** The hash chain of a run's log: docs/signed-jobs.md, "Receipts". */
final class LogChain {
    private static final String DOMAIN = "runnel.run-log.v1\n";
    private static final int ENTRIES_PER_BLOCK = 64;

    private byte[] head;
    private MessageDigest block = Sha256.digest();
    private long count;

    /** Starts the chain of a run. */
    LogChain(String runId) {
        startBlock(Sha256.of((DOMAIN + runId.toLowerCase(Locale.ROOT)).getBytes(StandardCharsets.UTF_8)));
    }

    /** Adds the stored bytes of the next entry. */
    void add(ByteString bytes) {
        block.update(varint(bytes.size()));
        block.update(bytes.asReadOnlyByteBuffer());
        count++;
        if (count % ENTRIES_PER_BLOCK == 0) {
            startBlock(block.digest());
        }
    }

    /** Returns the hash over all entries so far. */
    byte[] value() {
        if (count % ENTRIES_PER_BLOCK == 0) {
            return head.clone();
        }
        try {
            return ((MessageDigest) block.clone()).digest();
        } catch (CloneNotSupportedException impossible) {
            throw new IllegalStateException("the SHA-256 of every JDK can be cloned", impossible);
        }
    }

    private void startBlock(byte[] hash) {
        head = hash;
        block = Sha256.digest();
        block.update(head);
    }

    private static byte[] varint(int value) {
        byte[] bytes = new byte[CodedOutputStream.computeUInt32SizeNoTag(value)];
        try {
            CodedOutputStream.newInstance(bytes).writeUInt32NoTag(value);
        } catch (java.io.IOException impossible) {
            throw new IllegalStateException("the array has the size of the varint", impossible);
        }
        return bytes;
    }
}
