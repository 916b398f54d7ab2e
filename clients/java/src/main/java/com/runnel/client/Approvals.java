package com.runnel.client;

import com.runnel.v1.ApprovalServiceGrpc;
import com.runnel.v1.DecideApprovalRequest;
import com.runnel.v1.DecideApprovalResponse;
import com.runnel.v1.GetApprovalRequest;
import com.runnel.v1.GetApprovalResponse;
import com.runnel.v1.ListApprovalsRequest;
import com.runnel.v1.ListApprovalsResponse;
import com.runnel.v1.WatchApprovalsRequest;
import com.runnel.v1.WatchApprovalsResponse;

/** The calls of {@code ApprovalService}. The contract describes each call in full. */
public final class Approvals {
    private final Runnel client;

    Approvals(Runnel client) {
        this.client = client;
    }

    /**
     * Lists the approvals of the calling client, newest first, without the {@code request}.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public ListApprovalsResponse listApprovals(ListApprovalsRequest request) {
        return client.call(ApprovalServiceGrpc.getListApprovalsMethod(), request);
    }

    /**
     * Streams the approvals of the calling client as they change: as runs ask for them, and as they are decided, used or expire.
     *
     * @param request the request
     * @return the responses; it ends with its connection
     * @throws RunnelException when the call fails
     */
    public ResponseStream<WatchApprovalsResponse> watchApprovals(WatchApprovalsRequest request) {
        return client.stream(ApprovalServiceGrpc.getWatchApprovalsMethod(), request);
    }

    /**
     * Returns one approval with its {@code request}.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public GetApprovalResponse getApproval(GetApprovalRequest request) {
        return client.call(ApprovalServiceGrpc.getGetApprovalMethod(), request);
    }

    /**
     * Approves or rejects an action permanently: the first decision counts. May be retried: the same request gets the same answer.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public DecideApprovalResponse decideApproval(DecideApprovalRequest request) {
        return client.call(ApprovalServiceGrpc.getDecideApprovalMethod(), request);
    }
}
