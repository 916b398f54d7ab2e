// Reads a run to its end over the death of its service. Prints the number of each message on a line of its own.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	durablestreams "github.com/durable-streams/durable-streams/packages/client-go"
)

var modes = map[string]durablestreams.LiveMode{
	"catch-up":  durablestreams.LiveModeNone,
	"long-poll": durablestreams.LiveModeLongPoll,
	"sse":       durablestreams.LiveModeSSE,
}

func main() {
	stream := durablestreams.NewClient().Stream(os.Args[1])
	key := map[string]string{"Authorization": "Bearer " + os.Getenv("RUNNEL_API_KEY")}
	offset := durablestreams.StartOffset
	for isClosed := false; !isClosed; {
		it := stream.Read(context.Background(), durablestreams.WithOffset(offset),
			durablestreams.WithLive(modes[os.Args[2]]), durablestreams.WithReadHeaders(key))
		for !isClosed {
			chunk, err := it.Next()
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				break
			}
			var messages []struct{ Sequence int }
			if len(chunk.Data) > 0 {
				if err := json.Unmarshal(chunk.Data, &messages); err != nil {
					panic(err)
				}
			}
			for _, message := range messages {
				fmt.Println(message.Sequence)
			}
			offset, isClosed = chunk.NextOffset, chunk.StreamClosed
		}
		it.Close()
		time.Sleep(200 * time.Millisecond)
	}
}
