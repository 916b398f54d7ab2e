package runnel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Error is the failure of a call or of a check. Find it with errors.As. errors.Is finds context.Canceled and
// context.DeadlineExceeded where the caller's context ended the call, and status.Code has the code.
type Error struct {
	// Code is the code of gRPC, such as codes.NotFound.
	Code codes.Code
	// Reason names the cause for programs, such as RUN_NOT_FOUND. It is empty when the service did not answer.
	Reason string
	// Message says what was wrong and what to do, for people.
	Message string
	// Metadata has facts about the reason.
	Metadata map[string]string
	// Violations are the refused fields of the request.
	Violations []Violation
	// RetryAfter is how long to wait before the same call may succeed; 0 when the service does not say.
	RetryAfter time.Duration

	status *status.Status
	cause  error
}

// Violation is a refused field.
type Violation struct {
	// Field is the path of the field in the request.
	Field string
	// Description says what to do.
	Description string
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("runnel: %s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("runnel: %s (%s): %s", e.Code, e.Reason, e.Message)
}

// Unwrap returns the error of the context that ended the call, if one did.
func (e *Error) Unwrap() error {
	return e.cause
}

// GRPCStatus returns the status with all its details, as of runnel.host.v1.ApiError.
func (e *Error) GRPCStatus() *status.Status {
	if e.status == nil {
		return status.New(e.Code, e.Message)
	}
	return e.status
}

// errorOf returns the Error that err is or has in its status.
func errorOf(err error) *Error {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure
	}
	told := status.Convert(err)
	failure := &Error{Code: told.Code(), Message: told.Message(), status: told}
	for _, detail := range told.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			failure.Reason, failure.Metadata = detail.GetReason(), detail.GetMetadata()
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				failure.Violations = append(failure.Violations, Violation{violation.GetField(), violation.GetDescription()})
			}
		case *errdetails.RetryInfo:
			failure.RetryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	return failure
}

// typed returns the Error for a failure of a call. The end of the caller's context has precedence, because gRPC has several
// codes for it.
func typed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.Canceled):
		return &Error{Code: codes.Canceled, Message: "the caller cancelled the call", cause: cause}
	case cause != nil:
		message := fmt.Sprintf("the deadline of the call has passed; the last failure: %s", errorOf(err).Message)
		return &Error{Code: codes.DeadlineExceeded, Message: message, cause: cause}
	default:
		return errorOf(err)
	}
}

func invalid(reason, message string) *Error {
	return &Error{Code: codes.InvalidArgument, Reason: reason, Message: message}
}
