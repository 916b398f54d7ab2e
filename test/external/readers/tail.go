// Follows a run with grpc-go, without stubs, and prints the status code at the end of its stream.
// `tail <host:port> <key> <run id>`
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// plain is a codec that passes messages on as bytes.
type plain struct{}

func (plain) Name() string                  { return "proto" }
func (plain) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (plain) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func main() {
	target, key, runID := os.Args[1], os.Args[2], os.Args[3]
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+key)
	call := &grpc.StreamDesc{ServerStreams: true}
	stream, err := connection.NewStream(ctx, call, "/runnel.v1.RunService/TailRun", grpc.ForceCodec(plain{}))
	if err != nil {
		fmt.Println(nameOf(err))
		return
	}
	// TailRunRequest: run_id is field 1.
	request := append([]byte{10, byte(len(runID))}, runID...)
	must(stream.SendMsg(&request))
	must(stream.CloseSend())
	for {
		var response []byte
		if err := stream.RecvMsg(&response); err != nil {
			fmt.Println(nameOf(err))
			return
		}
		// A response without results opens the stream.
		if len(response) > 0 {
			fmt.Println("result")
		}
	}
}

func nameOf(err error) string {
	if errors.Is(err, io.EOF) {
		return "OK"
	}
	return status.Code(err).String()
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
