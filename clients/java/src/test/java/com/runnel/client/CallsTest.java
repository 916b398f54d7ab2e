package com.runnel.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.runnel.v1.ApprovalServiceGrpc.ApprovalServiceBlockingStub;
import com.runnel.v1.RunServiceGrpc.RunServiceBlockingStub;
import com.runnel.v1.SessionServiceGrpc.SessionServiceBlockingStub;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** `sessions`, `runs` and `approvals` have every call of their services. */
final class CallsTest {
    @Test
    void haveEveryCallOfTheContract() {
        assertEquals(callsOf(SessionServiceBlockingStub.class), callsOf(Sessions.class));
        assertEquals(callsOf(RunServiceBlockingStub.class), callsOf(Runs.class));
        assertEquals(callsOf(ApprovalServiceBlockingStub.class), callsOf(Approvals.class));
    }

    private static Set<String> callsOf(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && method.getParameterCount() == 1)
                .map(method -> method.getName() + " " + method.getParameterTypes()[0].getSimpleName())
                .collect(Collectors.toSet());
    }
}
