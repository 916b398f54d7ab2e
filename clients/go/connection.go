package runnel

import (
	"sync"

	"google.golang.org/grpc"
)

// connection is the channel of a client. It may be replaced: gRPC notices only after many seconds that a peer has vanished.
type connection struct {
	target  string
	options []grpc.DialOption

	mutex   sync.Mutex
	current *grpc.ClientConn
}

func newConnection(target string, options ...grpc.DialOption) (*connection, error) {
	channel, err := grpc.NewClient(target, options...)
	return &connection{target: target, options: options, current: channel}, err
}

func (c *connection) channel() *grpc.ClientConn {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.current
}

// replace closes a channel on which the service does not answer. Calls on it fail, and those that may be repeated use the new one.
func (c *connection) replace(silent *grpc.ClientConn) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.current != silent {
		return
	}
	// The same target and options as before, so it does not fail.
	if channel, err := grpc.NewClient(c.target, c.options...); err == nil {
		c.current = channel
		_ = silent.Close()
	}
}

func (c *connection) close() error {
	return c.channel().Close()
}
