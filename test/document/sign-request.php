<?php
// Signs as the document's PHP does.

function signRequest(string $secret, string $body): array
{
    $timestamp = (string) time();
    $nonce = bin2hex(random_bytes(16));
    $digest = hash_hmac('sha256', "{$timestamp}.{$nonce}.{$body}", $secret);

    return ["X-Signature: sha256={$digest}", "X-Timestamp: {$timestamp}", "X-Nonce: {$nonce}"];
}
