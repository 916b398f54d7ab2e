package worker

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	runnel "github.com/runnel/runnel/clients/go"
	hostv1 "github.com/runnel/runnel/clients/go/gen/runnel/host/v1"
)

// Host has the calls of all services of the host API. A refused call gives a *runnel.Error, whose GRPCStatus has the protocol's
// runnel.host.v1.ApiError as a detail.
type Host struct {
	hostv1.HostArtifactServiceClient
	hostv1.HostHistoryServiceClient
	hostv1.HostKnowledgeServiceClient
	hostv1.HostModelServiceClient
	hostv1.HostRunServiceClient
	hostv1.HostStorageServiceClient
	hostv1.HostToolServiceClient
}

func openHost(client *runnel.Client, runID, token string) *Host {
	calls := namedCalls{client.As(runnel.APIKey(token)).Conn(), runID}
	return &Host{
		hostv1.NewHostArtifactServiceClient(calls),
		hostv1.NewHostHistoryServiceClient(calls),
		hostv1.NewHostKnowledgeServiceClient(calls),
		hostv1.NewHostModelServiceClient(calls),
		hostv1.NewHostRunServiceClient(calls),
		hostv1.NewHostStorageServiceClient(calls),
		hostv1.NewHostToolServiceClient(calls),
	}
}

// namedCalls sets the run id of each request, which every request of the host API has.
type namedCalls struct {
	grpc.ClientConnInterface
	runID string
}

func (n namedCalls) Invoke(ctx context.Context, path string, request, reply any, options ...grpc.CallOption) error {
	return n.ClientConnInterface.Invoke(ctx, path, n.name(request), reply, options...)
}

func (n namedCalls) NewStream(
	ctx context.Context, description *grpc.StreamDesc, path string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := n.ClientConnInterface.NewStream(ctx, description, path, options...)
	return namedStream{stream, n}, err
}

func (n namedCalls) name(request any) any {
	named := proto.Clone(request.(proto.Message))
	field := named.ProtoReflect().Descriptor().Fields().ByName("run_id")
	named.ProtoReflect().Set(field, protoreflect.ValueOfString(n.runID))
	return named
}

type namedStream struct {
	grpc.ClientStream
	calls namedCalls
}

func (s namedStream) SendMsg(request any) error {
	return s.ClientStream.SendMsg(s.calls.name(request))
}
