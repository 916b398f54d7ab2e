package com.runnel.client;

import com.runnel.v1.CancelRunRequest;
import com.runnel.v1.CancelRunResponse;
import com.runnel.v1.CancelRunsRequest;
import com.runnel.v1.CancelRunsResponse;
import com.runnel.v1.DeleteRunRequest;
import com.runnel.v1.DeleteRunResponse;
import com.runnel.v1.GetRunInputRequest;
import com.runnel.v1.GetRunInputResponse;
import com.runnel.v1.GetRunRequest;
import com.runnel.v1.GetRunResponse;
import com.runnel.v1.ListModelCallsRequest;
import com.runnel.v1.ListModelCallsResponse;
import com.runnel.v1.ListRunResultsRequest;
import com.runnel.v1.ListRunResultsResponse;
import com.runnel.v1.ListRunsRequest;
import com.runnel.v1.ListRunsResponse;
import com.runnel.v1.RunServiceGrpc;
import com.runnel.v1.SearchRunsRequest;
import com.runnel.v1.SearchRunsResponse;
import com.runnel.v1.TailRunRequest;
import com.runnel.v1.TailRunResponse;
import com.runnel.v1.TailRunTreeRequest;
import com.runnel.v1.TailRunTreeResponse;
import com.runnel.v1.WatchRunsRequest;
import com.runnel.v1.WatchRunsResponse;

/** The calls of {@code RunService}. The contract describes each call in full. */
public final class Runs {
    private final Runnel client;

    Runs(Runnel client) {
        this.client = client;
    }

    /**
     * Returns one run.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public GetRunResponse getRun(GetRunRequest request) {
        return client.call(RunServiceGrpc.getGetRunMethod(), request);
    }

    /**
     * Returns the messages that started a run, and the settings that it works with.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public GetRunInputResponse getRunInput(GetRunInputRequest request) {
        return client.call(RunServiceGrpc.getGetRunInputMethod(), request);
    }

    /**
     * Lists the runs of the calling client, newest first: those that match all filters that are set.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public ListRunsResponse listRuns(ListRunsRequest request) {
        return client.call(RunServiceGrpc.getListRunsMethod(), request);
    }

    /**
     * Searches the texts of the runs of the calling client, newest runs first.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public SearchRunsResponse searchRuns(SearchRunsRequest request) {
        return client.call(RunServiceGrpc.getSearchRunsMethod(), request);
    }

    /**
     * Lists the calls of models that a run made, where the service keeps them.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public ListModelCallsResponse listModelCalls(ListModelCallsRequest request) {
        return client.call(RunServiceGrpc.getListModelCallsMethod(), request);
    }

    /**
     * Deletes a run for its client, and cancels it when it is active.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public DeleteRunResponse deleteRun(DeleteRunRequest request) {
        return client.call(RunServiceGrpc.getDeleteRunMethod(), request);
    }

    /**
     * Streams the runs of the calling client as they change: as they begin, wait, continue, take a turn and end.
     *
     * @param request the request
     * @return the responses; it ends with its connection
     * @throws RunnelException when the call fails
     */
    public ResponseStream<WatchRunsResponse> watchRuns(WatchRunsRequest request) {
        return client.stream(RunServiceGrpc.getWatchRunsMethod(), request);
    }

    /**
     * Streams the log of a run from any position: first the stored results, then each new one, until the terminal result.
     *
     * @param request the request
     * @return the responses; it ends with its connection
     * @throws RunnelException when the call fails
     */
    public ResponseStream<TailRunResponse> tailRun(TailRunRequest request) {
        return client.stream(RunServiceGrpc.getTailRunMethod(), request);
    }

    /**
     * Streams the logs of a run and of all child runs below it, until all of them have ended.
     *
     * @param request the request
     * @return the responses; it ends with its connection
     * @throws RunnelException when the call fails
     */
    public ResponseStream<TailRunTreeResponse> tailRunTree(TailRunTreeRequest request) {
        return client.stream(RunServiceGrpc.getTailRunTreeMethod(), request);
    }

    /**
     * Lists the stored results of a run, oldest first, without waiting for more.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public ListRunResultsResponse listRunResults(ListRunResultsRequest request) {
        return client.call(RunServiceGrpc.getListRunResultsMethod(), request);
    }

    /**
     * Requests the cancellation of a run and returns the run without waiting for its end.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public CancelRunResponse cancelRun(CancelRunRequest request) {
        return client.call(RunServiceGrpc.getCancelRunMethod(), request);
    }

    /**
     * Requests the cancellation of all active runs of the calling client that match all filters that are set, newest first.
     *
     * @param request the request
     * @return the response
     * @throws RunnelException when the call fails
     */
    public CancelRunsResponse cancelRuns(CancelRunsRequest request) {
        return client.call(RunServiceGrpc.getCancelRunsMethod(), request);
    }
}
