module reader

go 1.24

require github.com/durable-streams/durable-streams/packages/client-go v0.0.0
