// Package runnel calls Runnel, a service that runs agents over one durable log.
//
// Connect returns a Client with the generated clients of all services. Client.Send starts a run, Client.Follow follows it across
// lost connections, and Client.Ask also runs tools of the caller. Every failed call gives an *Error. The package worker is for
// authors of runners.
package runnel

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	runnerv1 "github.com/runnel/runnel/clients/go/gen/runnel/runner/v1"
	runnelv1 "github.com/runnel/runnel/clients/go/gen/runnel/v1"
)

// Version is the version of this module and of the contract in it.
const Version = "0.2.0"

const (
	// The service sends an empty message every 15 s, so three of them are missing.
	idleTimeoutDefault = 45 * time.Second
	// The channel of gRPC waits up to 120 s by default before it dials again, and refuses all calls meanwhile.
	dialDelayMax = time.Second
	dialTimeout  = 5 * time.Second
	// Finds a service that went away without a word while a unary call waits.
	pingInterval = 20 * time.Second
	// The service's largest message has 4 MiB; gRPC's own default is exactly that and leaves no room for its envelope.
	receivedBytesMax = 8 << 20
)

// Client has the generated clients of a service, and the calls that need more than one attempt. It may be used concurrently.
//
// Each call, also of a generated client, carries the credentials and fails with an *Error. Calls that the contract marks as
// idempotent, and calls with a request id, are repeated for up to a minute when they fail in transit. The library fills an empty
// request id.
type Client struct {
	Auth      runnelv1.AuthServiceClient
	Callbacks runnelv1.CallbackServiceClient
	Files     runnelv1.FileServiceClient
	Memory    runnelv1.MemoryServiceClient
	Providers runnelv1.ProviderServiceClient
	Receipts  runnelv1.ReceiptServiceClient
	Runs      runnelv1.RunServiceClient
	Schedules runnelv1.ScheduleServiceClient
	Sessions  runnelv1.SessionServiceClient
	System    runnelv1.SystemServiceClient
	Usage     runnelv1.UsageServiceClient
	Approvals runnelv1.ApprovalServiceClient
	Knowledge runnerv1.KnowledgeServiceClient
	Runners   runnerv1.RunnerServiceClient
	Workers   runnerv1.RunnerWorkerServiceClient

	caller      caller
	idleTimeout time.Duration
}

// Option changes how Connect connects.
type Option func(*settings)

type settings struct {
	idleTimeout time.Duration
	tls         *tls.Config
}

// WithIdleTimeout sets how long a followed stream may be silent before it is opened again. The default is 45 s, and the service
// sends a sign of life every 15 s.
func WithIdleTimeout(timeout time.Duration) Option {
	return func(s *settings) { s.idleTimeout = timeout }
}

// WithTLS sets the TLS configuration for an https URL. The default trusts the certificates of the system.
func WithTLS(config *tls.Config) Option {
	return func(s *settings) { s.tls = config }
}

// Connect returns a client of the service at a URL such as http://127.0.0.1:8090 or https://runnel.example. Nil credentials send
// none. It connects with the first call, so an error means that the URL is invalid. Close the client after its last call.
func Connect(serviceURL string, credentials Credentials, options ...Option) (*Client, error) {
	chosen := settings{idleTimeout: idleTimeoutDefault}
	for _, option := range options {
		option(&chosen)
	}
	target, security, err := readURL(serviceURL, chosen.tls)
	if err != nil {
		return nil, err
	}
	delays := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: dialDelayMax}
	connection, err := newConnection(target,
		grpc.WithTransportCredentials(security),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: delays, MinConnectTimeout: dialTimeout}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: pingInterval}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(receivedBytesMax)),
		grpc.WithUserAgent("runnel-go/"+Version),
	)
	if err != nil {
		return nil, invalid("URL_INVALID", fmt.Sprintf("invalid URL %q: %v", serviceURL, err))
	}
	return newClient(caller{connection, credentials}, chosen.idleTimeout), nil
}

func readURL(text string, config *tls.Config) (target string, security credentials.TransportCredentials, err error) {
	address, err := url.Parse(text)
	if err != nil || address.Hostname() == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return "", nil, invalid("URL_INVALID", fmt.Sprintf("invalid URL %q: it must be http://host or https://host", text))
	}
	port, security := "80", insecure.NewCredentials()
	if address.Scheme == "https" {
		port, security = "443", credentials.NewTLS(config)
	}
	if address.Port() != "" {
		return address.Host, security, nil
	}
	return address.Host + ":" + port, security, nil
}

func newClient(calls caller, idleTimeout time.Duration) *Client {
	return &Client{
		Auth:        runnelv1.NewAuthServiceClient(calls),
		Callbacks:   runnelv1.NewCallbackServiceClient(calls),
		Files:       runnelv1.NewFileServiceClient(calls),
		Memory:      runnelv1.NewMemoryServiceClient(calls),
		Providers:   runnelv1.NewProviderServiceClient(calls),
		Receipts:    runnelv1.NewReceiptServiceClient(calls),
		Runs:        runnelv1.NewRunServiceClient(calls),
		Schedules:   runnelv1.NewScheduleServiceClient(calls),
		Sessions:    runnelv1.NewSessionServiceClient(calls),
		System:      runnelv1.NewSystemServiceClient(calls),
		Usage:       runnelv1.NewUsageServiceClient(calls),
		Approvals:   runnelv1.NewApprovalServiceClient(calls),
		Knowledge:   runnerv1.NewKnowledgeServiceClient(calls),
		Runners:     runnerv1.NewRunnerServiceClient(calls),
		Workers:     runnerv1.NewRunnerWorkerServiceClient(calls),
		caller:      calls,
		idleTimeout: idleTimeout,
	}
}

// As returns a client with other credentials on the same connection. Do not close it.
func (c *Client) As(credentials Credentials) *Client {
	return newClient(caller{c.caller.connection, credentials}, c.idleTimeout)
}

// Conn returns what generated clients of other services need, such as jobv1.NewJobServiceClient, with the credentials and errors of this client.
func (c *Client) Conn() grpc.ClientConnInterface {
	return c.caller
}

// Close closes the connection and ends all calls.
func (c *Client) Close() error {
	return c.caller.connection.close()
}

// Send sends a message to a session and returns as soon as its run is durable. It is Sessions.SendMessage for a text, which has
// all other settings.
func (c *Client) Send(ctx context.Context, sessionID, message string) (*runnelv1.SendMessageResponse, error) {
	return c.Sessions.SendMessage(ctx, &runnelv1.SendMessageRequest{SessionId: sessionID, Message: message})
}
