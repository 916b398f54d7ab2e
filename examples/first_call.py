import sys
import grpc

sys.path += ["proto", "third_party"]
session_pb2, session_grpc = grpc.protos_and_services("runnel/v1/session_service.proto")
run_pb2, run_grpc = grpc.protos_and_services("runnel/v1/run_service.proto")

channel = grpc.insecure_channel("127.0.0.1:8090")
sessions = session_grpc.SessionServiceStub(channel)
session = sessions.CreateSession(session_pb2.CreateSessionRequest(agent={"name": "first"}))
run = sessions.SendMessage(session_pb2.SendMessageRequest(session_id=session.session_id, message="Say hello."))
for response in run_grpc.RunServiceStub(channel).TailRun(run_pb2.TailRunRequest(run_id=run.run_id)):
    for result in response.results:
        print(result.message_delta.chunk.content, end="", flush=True)
