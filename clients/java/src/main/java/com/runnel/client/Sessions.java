package com.runnel.client;

import com.runnel.v1.AddMessagesRequest;
import com.runnel.v1.AddMessagesResponse;
import com.runnel.v1.CreateSessionRequest;
import com.runnel.v1.CreateSessionResponse;
import com.runnel.v1.DeleteMessageRequest;
import com.runnel.v1.DeleteMessageResponse;
import com.runnel.v1.DeleteSessionRequest;
import com.runnel.v1.DeleteSessionResponse;
import com.runnel.v1.GetSessionRequest;
import com.runnel.v1.GetSessionResponse;
import com.runnel.v1.ListMessagesRequest;
import com.runnel.v1.ListMessagesResponse;
import com.runnel.v1.ListPresetsRequest;
import com.runnel.v1.ListPresetsResponse;
import com.runnel.v1.ListSessionsRequest;
import com.runnel.v1.ListSessionsResponse;
import com.runnel.v1.PurgeSessionRequest;
import com.runnel.v1.PurgeSessionResponse;
import com.runnel.v1.SendMessageRequest;
import com.runnel.v1.SendMessageResponse;
import com.runnel.v1.SessionServiceGrpc;
import com.runnel.v1.StreamSessionRequest;
import com.runnel.v1.StreamSessionResponse;
import com.runnel.v1.UpdateSessionRequest;
import com.runnel.v1.UpdateSessionResponse;

/** The calls of {@code SessionService}. The contract describes each call in full. */
public final class Sessions {
    private final Runnel client;

    Sessions(Runnel client) {
        this.client = client;
    }

    /**
     * Creates a session, or a fork of one.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public CreateSessionResponse createSession(CreateSessionRequest request) {
        return client.call(SessionServiceGrpc.getCreateSessionMethod(), request);
    }

    /**
     * Returns one session with the state of its latest run.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public GetSessionResponse getSession(GetSessionRequest request) {
        return client.call(SessionServiceGrpc.getGetSessionMethod(), request);
    }

    /**
     * Lists the sessions of the calling client, newest first.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public ListSessionsResponse listSessions(ListSessionsRequest request) {
        return client.call(SessionServiceGrpc.getListSessionsMethod(), request);
    }

    /**
     * Lists the presets of the service: agents that its settings name.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public ListPresetsResponse listPresets(ListPresetsRequest request) {
        return client.call(SessionServiceGrpc.getListPresetsMethod(), request);
    }

    /**
     * Deletes a session in any state and cancels its active run.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public DeleteSessionResponse deleteSession(DeleteSessionRequest request) {
        return client.call(SessionServiceGrpc.getDeleteSessionMethod(), request);
    }

    /**
     * Erases the content of a session and of its runs permanently, and deletes the session if it still exists.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public PurgeSessionResponse purgeSession(PurgeSessionRequest request) {
        return client.call(SessionServiceGrpc.getPurgeSessionMethod(), request);
    }

    /**
     * Sends a message and starts a run. Returns as soon as the run is durable. The run needs no reader.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public SendMessageResponse sendMessage(SendMessageRequest request) {
        return client.call(SessionServiceGrpc.getSendMessageMethod(), request);
    }

    /**
     * Lists the messages of a session: what its model has received and produced. A message appears here when it is complete.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public ListMessagesResponse listMessages(ListMessagesRequest request) {
        return client.call(SessionServiceGrpc.getListMessagesMethod(), request);
    }

    /**
     * Adds messages to a session without starting a run: the next run's model sees them.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public AddMessagesResponse addMessages(AddMessagesRequest request) {
        return client.call(SessionServiceGrpc.getAddMessagesMethod(), request);
    }

    /**
     * Deletes a message of a session, and the results that answer its calls.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public DeleteMessageResponse deleteMessage(DeleteMessageRequest request) {
        return client.call(SessionServiceGrpc.getDeleteMessageMethod(), request);
    }

    /**
     * Replaces the annotations of a session.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public UpdateSessionResponse updateSession(UpdateSessionRequest request) {
        return client.call(SessionServiceGrpc.getUpdateSessionMethod(), request);
    }

    /**
     * Streams the session's latest run as the events of the Agent Runner document, and ends after {@code done}.
     *
     * @param request the request
     * @return the responses; it ends with its connection
     * @throws RunnelException when the call fails
     */
    public ResponseStream<StreamSessionResponse> streamSession(StreamSessionRequest request) {
        return client.stream(SessionServiceGrpc.getStreamSessionMethod(), request);
    }
}
