package runnel

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	runnelv1 "github.com/runnel/runnel/clients/go/gen/runnel/v1"
)

// Statement is the signed content of a receipt.
type Statement struct {
	Type          string         `json:"type"`
	Issuer        string         `json:"iss"`
	RunID         string         `json:"run_id"`
	JobID         string         `json:"job_id"`
	Region        string         `json:"region"`
	JobSpecSHA256 string         `json:"job_spec_sha256"`
	Entries       int            `json:"entries"`
	FirstHash     string         `json:"first_hash"`
	LastHash      string         `json:"last_hash"`
	Counts        map[string]int `json:"counts"`
	Status        string         `json:"status"`
	Code          string         `json:"code"`
	StartedAt     time.Time      `json:"started_at"`
	EndedAt       time.Time      `json:"ended_at"`
	IssuedAt      time.Time      `json:"issued_at"`
	MarkInterval  int            `json:"mark_interval"`
	Marks         []byte         `json:"marks"`
}

const (
	statementType   = "runnel.receipt.v1"
	receiptType     = "runnel-receipt+jws"
	chainDomain     = "runnel.run-log.v1\n"
	entriesPerBlock = 64
	markBytes       = 8
	marksMax        = 65_536
)

// VerifyReceipt checks a receipt and the log of its run offline. The results are the stored bytes, in order, as
// Client.StoredResults yields them. The key is one that you trust, such as PublicKey of a key of ReceiptService.GetJwks that you
// kept. Its *Error has the reason RECEIPT_INVALID when the receipt is not signed by the key, and LOG_MISMATCH when the log is not
// the signed one.
func VerifyReceipt(receipt *runnelv1.GetReceiptResponse, results [][]byte, key ed25519.PublicKey) (*Statement, error) {
	payload, err := verifyJWS(receipt.GetJws(), key)
	if err != nil {
		return nil, err
	}
	if shown := receipt.GetStatement(); shown != "" && shown != string(payload) {
		return nil, badReceipt("the statement beside the signed text is another one")
	}
	statement := &Statement{}
	if err := json.Unmarshal(payload, statement); err != nil {
		return nil, badReceipt("the statement is unreadable: " + err.Error())
	}
	if statement.Type != statementType {
		return nil, badReceipt(fmt.Sprintf("the statement is not of the type %s: it may have a newer version", statementType))
	}
	if err := statement.refuseContradictions(); err != nil {
		return nil, err
	}
	if err := statement.checkLog(results); err != nil {
		return nil, err
	}
	return statement, nil
}

// PublicKey returns the key of a JSON Web Key, for VerifyReceipt.
func PublicKey(key *runnelv1.Jwk) (ed25519.PublicKey, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(key.GetX())
	if err != nil || len(raw) != ed25519.PublicKeySize || key.GetKty() != "OKP" || key.GetCrv() != "Ed25519" {
		return nil, invalid("KEY_INVALID", "the JSON Web Key is not an Ed25519 key")
	}
	return raw, nil
}

func verifyJWS(jws string, key ed25519.PublicKey) ([]byte, error) {
	if len(key) != ed25519.PublicKeySize {
		return nil, invalid("KEY_INVALID", fmt.Sprintf("the key must have %d bytes", ed25519.PublicKeySize))
	}
	parts := strings.Split(jws, ".")
	if len(parts) != 3 {
		return nil, badReceipt("it is not a compact JWS: it must have three parts separated by dots")
	}
	var decoded [3][]byte
	for index, part := range parts {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || base64.RawURLEncoding.EncodeToString(raw) != part {
			return nil, badReceipt("a part is not base64url without padding")
		}
		decoded[index] = raw
	}
	// The service writes the header in one way only, so no other text that the key signed can pass for a receipt.
	if string(decoded[0]) != headerOf(key) {
		return nil, badReceipt("its header names another key, or another type of text")
	}
	if len(decoded[2]) != ed25519.SignatureSize || !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), decoded[2]) {
		return nil, badReceipt("invalid signature: it was changed, or another key signed it")
	}
	return decoded[1], nil
}

func headerOf(key ed25519.PublicKey) string {
	x := base64.RawURLEncoding.EncodeToString(key)
	thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	kid := base64.RawURLEncoding.EncodeToString(thumbprint[:])
	return `{"alg":"EdDSA","typ":"` + receiptType + `","kid":"` + kid + `","jwk":{"kty":"OKP","crv":"Ed25519","x":"` + x + `"}}`
}

func (s *Statement) refuseContradictions() error {
	sum, interval := 0, 1
	for _, count := range s.Counts {
		sum += count
	}
	for s.Entries > marksMax*interval {
		interval *= 2
	}
	if s.Entries < 1 || sum != s.Entries || s.MarkInterval != interval ||
		len(s.Marks) != markBytes*((s.Entries+interval-1)/interval) {
		return badReceipt("the statement contradicts itself: its entries, counts and marks do not match")
	}
	return nil
}

// checkLog computes the hash chain of the log and compares it with each mark, so that it can name the first bad entry.
func (s *Statement) checkLog(results [][]byte) error {
	chain := newChain(s.RunID)
	var value []byte
	confirmed := 0
	for index, stored := range results {
		place := index + 1
		if place > s.Entries {
			return badLog(place, place, "it continues after the last signed entry")
		}
		value = chain.add(stored)
		if place%s.MarkInterval != 0 && place != s.Entries {
			continue
		}
		start := markBytes * ((place - 1) / s.MarkInterval)
		if !bytes.Equal(value[:markBytes], s.Marks[start:start+markBytes]) {
			return badLog(confirmed+1, place, "it is missing, changed or out of order")
		}
		confirmed = place
	}
	if len(results) < s.Entries {
		return badLog(len(results)+1, s.Entries, "it is missing")
	}
	if hex.EncodeToString(value) != s.LastHash {
		return badLog(1, s.Entries, "the hash of the whole log is another one")
	}
	return s.checkSummary(results)
}

// checkSummary refuses a statement that says something else than the log that it signs.
func (s *Statement) checkSummary(results [][]byte) error {
	counts := map[string]int{}
	var last *runnelv1.RunResult
	for index, stored := range results {
		last = &runnelv1.RunResult{}
		if err := proto.Unmarshal(stored, last); err != nil {
			return badLog(index+1, index+1, "it is unreadable")
		}
		counts[TypeOf(last)]++
	}
	// Types that are newer than this library have names only in the statement.
	for name, count := range s.Counts {
		if !isKnownType(name) {
			counts[unknownType] -= count
		} else if counts[name] != count {
			return badLog(1, s.Entries, "the log has another number of "+name)
		}
	}
	if counts[unknownType] != 0 {
		return badLog(1, s.Entries, "the log has another number of results of unknown types")
	}
	end := EndOf(last)
	if end == nil && TypeOf(last) == unknownType {
		return nil
	}
	if end == nil || stateNames[end.State] != s.Status || end.Code != s.Code {
		return badLog(s.Entries, s.Entries, "the statement says that the run ended otherwise")
	}
	return nil
}

var stateNames = map[runnelv1.Run_State]string{
	runnelv1.Run_STATE_COMPLETED: "completed",
	runnelv1.Run_STATE_FAILED:    "failed",
	runnelv1.Run_STATE_CANCELLED: "cancelled",
}

// chain is the hash chain of a log: docs/signed-jobs.md defines it.
type chain struct {
	block hash.Hash
	count int
}

func newChain(runID string) *chain {
	chain := &chain{block: sha256.New()}
	start := sha256.Sum256([]byte(chainDomain + strings.ToLower(runID)))
	chain.block.Write(start[:])
	return chain
}

// add adds an entry and returns the value of the chain after it.
func (c *chain) add(stored []byte) []byte {
	c.block.Write(binary.AppendUvarint(nil, uint64(len(stored))))
	c.block.Write(stored)
	c.count++
	value := c.block.Sum(nil)
	if c.count%entriesPerBlock == 0 {
		c.block.Reset()
		c.block.Write(value)
	}
	return value
}

func badReceipt(message string) *Error {
	return invalid("RECEIPT_INVALID", "invalid receipt: "+message)
}

func badLog(first, last int, message string) *Error {
	failure := invalid("LOG_MISMATCH", fmt.Sprintf("the log differs from its receipt at entry %d: %s", last, message))
	failure.Metadata = map[string]string{"first": fmt.Sprint(first), "last": fmt.Sprint(last)}
	return failure
}
