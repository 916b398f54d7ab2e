package runnel_test

import (
	"fmt"
	"net/http"
	"time"

	runnel "github.com/runnel/runnel/clients/go"
)

func ExampleVerifyCallback() {
	header := http.Header{}
	header.Set("X-Timestamp", "1785542400")
	header.Set("X-Nonce", "5f0c2d7be1")
	header.Set("X-Signature", "sha256=90b81e0753699c669c41c18245de7377194c117c2553322a27a55c666b627a9a")
	body := []byte(`{"session_id":"abc123","status":"completed"}`)
	now := time.Unix(1785542401, 0)

	fmt.Println(runnel.VerifyCallback("a secret", header, body, now))
	fmt.Println(runnel.VerifyCallback("a secret", header, append(body, ' '), now))
	// Output:
	// <nil>
	// runnel: InvalidArgument (SIGNATURE_INVALID): invalid X-Signature: the body was changed, or the secret is another one
}
