package runnel

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	// Their services belong to the contract too.
	_ "github.com/runnel/runnel/clients/go/gen/runnel/community/v1"
	_ "github.com/runnel/runnel/clients/go/gen/runnel/exchange/v1"
	_ "github.com/runnel/runnel/clients/go/gen/runnel/host/v1"
	_ "github.com/runnel/runnel/clients/go/gen/runnel/job/v1"
)

// A signature covers the bytes of the request, which is encoded once to sign and once to send.
func TestNoRequestHasAMap(t *testing.T) {
	methods := 0
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for index := range file.Services().Len() {
			service := file.Services().Get(index)
			for index := range service.Methods().Len() {
				methods++
				refuseMaps(t, service.Methods().Get(index).Input(), map[protoreflect.FullName]bool{})
			}
		}
		return true
	})
	if methods == 0 {
		t.Error("the contract has no methods")
	}
}

func refuseMaps(t *testing.T, message protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) {
	if seen[message.FullName()] {
		return
	}
	seen[message.FullName()] = true
	for index := range message.Fields().Len() {
		field := message.Fields().Get(index)
		if field.IsMap() {
			t.Errorf("%s is a map: encode requests once", field.FullName())
		} else if field.Message() != nil {
			refuseMaps(t, field.Message(), seen)
		}
	}
}

func TestCallsThatMayBeRepeated(t *testing.T) {
	for path, want := range map[string]bool{
		"/runnel.v1.SessionService/CreateSession":      true,
		"/runnel.v1.SessionService/SendMessage":        true,
		"/runnel.v1.RunService/GetRun":                 true,
		"/runnel.v1.RunService/CancelRun":              true,
		"/runnel.v1.AuthService/CreateStreamTicket":    false,
		"/runnel.v1.ScheduleService/CreateSchedule":    false,
		"/runnel.v1.MemoryService/WriteMemory":         false,
		"/runnel.host.v1.HostModelService/InvokeModel": false,
	} {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(nameOfMethod(path))
		if err != nil {
			t.Fatal(err)
		}
		input := found.(protoreflect.MethodDescriptor).Input()
		kind, err := protoregistry.GlobalTypes.FindMessageByName(input.FullName())
		if err != nil {
			t.Fatal(err)
		}
		if _, mayRepeat := prepare(path, kind.New().Interface()); mayRepeat != want {
			t.Errorf("%s may be repeated: %v", path, mayRepeat)
		}
	}
}
