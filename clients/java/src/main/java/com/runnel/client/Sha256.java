package com.runnel.client;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 of the JDK. */
final class Sha256 {
    private Sha256() {}

    static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }

    static byte[] of(byte[] bytes) {
        return digest().digest(bytes);
    }
}
