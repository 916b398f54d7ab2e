package runnel

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// StatusCallback is the body of a status callback. Encoding/json reads it. A repeated delivery has the same CallbackID.
type StatusCallback struct {
	SessionID  string `json:"session_id"`
	ClientID   string `json:"client_id"`
	Status     string `json:"status"`
	Error      string `json:"error,omitempty"`
	Output     string `json:"output,omitempty"`
	Turns      int    `json:"turns,omitempty"`
	DurationMS int64  `json:"duration_ms,omitempty"`
	RunID      string `json:"run_id,omitempty"`
	Sequence   int64  `json:"sequence"`
	CallbackID string `json:"callback_id"`
}

const callbackToleranceSeconds = 120

var (
	nonceForm     = regexp.MustCompile(`^[A-Za-z0-9_-]{8,128}$`)
	timestampForm = regexp.MustCompile(`^[1-9][0-9]{0,15}$`)
)

// VerifyCallback checks the signature of a status callback over the body as it arrived. Its *Error has the reason
// CREDENTIALS_MISSING, NONCE_INVALID, TIMESTAMP_INVALID, TIMESTAMP_EXPIRED or SIGNATURE_INVALID. It keeps no nonces: refuse an
// X-Nonce that you have seen in the last four minutes, or a CallbackID that you have processed.
func VerifyCallback(secret string, header http.Header, body []byte, now time.Time) error {
	signature, timestamp, nonce := header.Get("X-Signature"), header.Get("X-Timestamp"), header.Get("X-Nonce")
	if signature == "" || timestamp == "" || nonce == "" {
		return invalid("CREDENTIALS_MISSING", "missing X-Signature, X-Timestamp or X-Nonce")
	}
	if !nonceForm.MatchString(nonce) {
		return invalid("NONCE_INVALID", "invalid X-Nonce")
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || !timestampForm.MatchString(timestamp) {
		return invalid("TIMESTAMP_INVALID", "invalid X-Timestamp")
	}
	skew := seconds - now.Unix()
	if skew > callbackToleranceSeconds || skew < -callbackToleranceSeconds {
		failure := invalid("TIMESTAMP_EXPIRED", "X-Timestamp is more than two minutes away")
		failure.Metadata = map[string]string{"skew_seconds": strconv.FormatInt(skew, 10)}
		return failure
	}
	claimed, err := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	mac := macOf(secret, timestamp+"."+nonce+"."+string(body))
	if err != nil || !strings.HasPrefix(signature, "sha256=") || len(claimed) != sha256.Size || !hmac.Equal(claimed, mac) {
		return invalid("SIGNATURE_INVALID", "invalid X-Signature: the body was changed, or the secret is another one")
	}
	return nil
}
