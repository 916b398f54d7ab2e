package runnel

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Credentials identify the caller. APIKey, Signature and Ticket make them.
type Credentials interface {
	// headers returns the metadata for one attempt of a call, whose request has these bytes.
	headers(path string, request []byte) map[string]string
}

// APIKey sends a key as a bearer token. An empty key sends nothing, as for a service without credentials.
func APIKey(key string) Credentials {
	if key == "" {
		return nil
	}
	return bearer(key)
}

// Ticket sends a stream ticket. It opens only the stream that AuthService.CreateStreamTicket made it for.
func Ticket(ticket string) Credentials {
	return bearer(ticket)
}

// Signature signs each attempt of a call with the secret of a client (HMAC, version 2), so that the secret never leaves the
// program.
func Signature(clientID, secret string) Credentials {
	return signer{clientID, secret}
}

type bearer string

func (b bearer) headers(string, []byte) map[string]string {
	return map[string]string{"authorization": "Bearer " + string(b)}
}

type signer struct{ clientID, secret string }

func (s signer) headers(path string, request []byte) map[string]string {
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	nonce := newID()
	digest := sha256.Sum256(request)
	text := strings.Join([]string{"v2", "POST", path, s.clientID, timestamp, nonce, hex.EncodeToString(digest[:])}, "\n")
	return map[string]string{
		"x-client-id": s.clientID,
		"x-timestamp": timestamp,
		"x-nonce":     nonce,
		"x-signature": "sha256=" + hex.EncodeToString(macOf(s.secret, text)),
	}
}

func macOf(secret, text string) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// newID returns 16 random bytes in hexadecimal.
func newID() string {
	var id [16]byte
	// Never fails: it ends the program when the system has no randomness.
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// attempt gives gRPC the metadata of one call. gRPC asks for it in each attempt, also in those that it makes by itself after a
// connection refused a stream. So no nonce is sent twice.
type attempt struct {
	credentials Credentials
	path        string
	request     []byte
}

func (a attempt) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return a.credentials.headers(a.path, a.request), nil
}

// RequireTransportSecurity allows http URLs, as of a service on the same machine.
func (attempt) RequireTransportSecurity() bool {
	return false
}
