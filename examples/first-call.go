package main

import (
	"context"
	"fmt"

	runnel "example/gen/runnel/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	conn, _ := grpc.NewClient("127.0.0.1:8090", grpc.WithTransportCredentials(insecure.NewCredentials()))
	ctx, sessions := context.Background(), runnel.NewSessionServiceClient(conn)
	session, _ := sessions.CreateSession(ctx, &runnel.CreateSessionRequest{Agent: &runnel.Agent{Name: "first"}})
	run, _ := sessions.SendMessage(ctx, &runnel.SendMessageRequest{SessionId: session.SessionId, Message: "Say hello."})
	stream, _ := runnel.NewRunServiceClient(conn).TailRun(ctx, &runnel.TailRunRequest{RunId: run.RunId})
	for response, err := stream.Recv(); err == nil; response, err = stream.Recv() {
		for _, result := range response.Results {
			fmt.Print(result.GetMessageDelta().GetChunk().GetContent())
		}
	}
}
