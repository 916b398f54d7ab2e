// Signs JobSpecs by the signing contract, with Go's standard library alone. Reads one {"seed", "spec"} a line on standard
// input, the seed in base64 and the spec as text; writes one signed spec a line to standard output.
package main

import (
	"bufio"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"log"
	"os"
)

type order struct {
	Seed []byte `json:"seed"`
	Spec string `json:"spec"`
}

func main() {
	log.SetFlags(0)
	lines := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	decoder := json.NewDecoder(lines)
	for decoder.More() {
		var next order
		if err := decoder.Decode(&next); err != nil {
			log.Fatal(err)
		}
		signed, err := sign(next)
		if err != nil {
			log.Fatal(err)
		}
		out.Write(signed)
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func sign(next order) ([]byte, error) {
	var spec map[string]any
	if err := json.Unmarshal([]byte(next.Spec), &spec); err != nil {
		return nil, err
	}
	canonical, err := json.Marshal(signable(spec))
	if err != nil {
		return nil, err
	}
	private := ed25519.NewKeyFromSeed(next.Seed)
	spec["public_key"] = base64.StdEncoding.EncodeToString(private.Public().(ed25519.PublicKey))
	spec["signature"] = base64.StdEncoding.EncodeToString(ed25519.Sign(private, canonical))
	return json.Marshal(spec)
}

func signable(spec map[string]any) map[string]any {
	rest := map[string]any{}
	for name, value := range spec {
		switch name {
		case "id", "created_at", "signature", "public_key":
		default:
			rest[name] = value
		}
	}
	kept := prune(rest)
	if constraints, ok := kept["constraints"].(map[string]any); ok {
		if rate, ok := constraints["min_success_rate"].(float64); ok && rate == 0 {
			delete(constraints, "min_success_rate")
		}
	}
	return kept
}

// Without nulls and empty objects. Arrays are unchanged.
func prune(object map[string]any) map[string]any {
	kept := map[string]any{}
	for name, value := range object {
		if inner, ok := value.(map[string]any); ok {
			inner = prune(inner)
			if len(inner) > 0 {
				kept[name] = inner
			}
		} else if value != nil {
			kept[name] = value
		}
	}
	return kept
}
