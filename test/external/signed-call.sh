#!/usr/bin/env bash
# One signed REST call from a shell: openssl for the digests, curl for the call. Prints the body of the answer and then its
# status. Requires SCHEME (v1 or v2), SECRET, CLIENT, METHOD, BASE (the URL of the service), TARGET (path and query) and
# BODY (may be empty).
set -euo pipefail

for program in openssl curl; do
  if ! command -v "$program" > /dev/null; then
    echo "$program is not installed: run \`apt-get install -y $program\`" >&2
    exit 1
  fi
done

hex_hmac() {
  openssl dgst -sha256 -hmac "$SECRET" -r | cut -d ' ' -f 1
}

timestamp=$(date +%s)
nonce=$(openssl rand -hex 16)
if [ "$SCHEME" = v2 ]; then
  digest=$(printf '%s' "$BODY" | openssl dgst -sha256 -r | cut -d ' ' -f 1)
  signature=$(printf 'v2\n%s\n%s\n%s\n%s\n%s\n%s' \
    "$METHOD" "$TARGET" "$CLIENT" "$timestamp" "$nonce" "$digest" | hex_hmac)
else
  signature=$(printf '%s.%s.%s' "$timestamp" "$nonce" "$BODY" | hex_hmac)
fi

curl --silent --show-error --write-out '%{http_code}' --request "$METHOD" \
  --header "X-Client-ID: $CLIENT" \
  --header "X-Timestamp: $timestamp" \
  --header "X-Nonce: $nonce" \
  --header "X-Signature: sha256=$signature" \
  ${BODY:+--data-binary "$BODY"} \
  "$BASE$TARGET"
