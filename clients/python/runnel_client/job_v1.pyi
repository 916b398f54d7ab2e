# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of runnel.job.v1."""

from builtins import bool as _bool, bytes as _bytes, float as _float, int as _int, str as _str
from collections.abc import AsyncIterator as _AsyncIterator, Iterable as _Iterable, Iterator as _Iterator
from collections.abc import Mapping as _Mapping
from datetime import datetime as _datetime, timedelta as _timedelta
from typing import Any as _Any, ClassVar as _ClassVar, Literal as _Literal, overload as _overload

from google.protobuf.any_pb2 import Any as _AnyMessage
from google.protobuf.duration_pb2 import Duration as _Duration
from google.protobuf.field_mask_pb2 import FieldMask as _FieldMask
from google.protobuf.message import Message as _Message
from google.protobuf.timestamp_pb2 import Timestamp as _Timestamp

from . import google_api as _m_google_api
from . import v1 as _m_v1
from .repeated import Messages as _Messages, Scalars as _Scalars
from .service import AsyncService as _AsyncService, Service as _Service

class Job(_Message):
    """
    A verified, signed JobSpec and the state of its runs ("Portal ↔ Runner Signing Contract").

    A job has one run for each of its regions. Everything that the service executes was inside the signed bytes. Ids and times
    are the service's own.
    """
    class State(_int):
        """State of a job. Completed, failed and cancelled are final."""
        STATE_UNSPECIFIED: _ClassVar[Job.State]
        """Unspecified: not a valid state."""
        STATE_QUEUED: _ClassVar[Job.State]
        """No run of the job has begun."""
        STATE_RUNNING: _ClassVar[Job.State]
        """A run has begun, and not all runs have ended."""
        STATE_COMPLETED: _ClassVar[Job.State]
        """All runs have ended, and enough of them ended successfully."""
        STATE_FAILED: _ClassVar[Job.State]
        """All runs have ended, and too few of them ended successfully."""
        STATE_CANCELLED: _ClassVar[Job.State]
        """The job was cancelled before enough of its runs had ended successfully."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> Job.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[Job.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, Job.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[Job.State]
    STATE_QUEUED: _ClassVar[Job.State]
    STATE_RUNNING: _ClassVar[Job.State]
    STATE_COMPLETED: _ClassVar[Job.State]
    STATE_FAILED: _ClassVar[Job.State]
    STATE_CANCELLED: _ClassVar[Job.State]

    id: _str
    """Id of the job, chosen by the service. Ids sort by the time of creation."""
    status: Job.State
    """State of the job."""
    client_job_id: _str
    """The `id` in the submitted spec. It is outside the signed bytes, and the service does not use it."""
    jobspec_id: _str
    """The signed `jobspec_id`."""
    version: _str
    """The signed `version`; without one the signed `benchmark.version`, and without both `1.0`."""
    benchmark: _str
    """The signed `benchmark.name`."""
    signature_version: _int
    """Version of the signature scheme: 1 or 2."""
    public_key: _str
    """The key that signed the spec, in standard base64."""
    key_id: _str
    """Name of the key in the trust list; the RFC 7638 thumbprint for a key that is not in the list."""
    canonical_sha256: _str
    """SHA-256 of the signed bytes, lower-case hex."""
    canonical_len: _int
    """Length of the signed bytes, in bytes."""
    min_regions: _int
    """Number of regions that must end successfully."""
    min_success_rate: _float
    """Share of the regions that must end successfully, 0 to 1."""
    total_regions: _int
    """Number of regions that the job runs in."""
    successful_regions: _int
    """Number of regions that have ended successfully so far."""
    failed_regions: _int
    """Number of regions that have ended in another way so far."""
    executions: _Messages[JobExecution]
    """The runs of the job, one per region, in the order of the spec."""
    create_time: _Timestamp
    """Time when the job was accepted."""
    end_time: _Timestamp
    """Time when the last run ended."""
    cancel_request_time: _Timestamp
    """Time when the cancellation was requested."""
    document: _str
    """The JobSpec as it was submitted, without its wrapper. Unset in lists, in WatchJob, and for a document of more than 512 KiB."""
    def __init__(self, *, id: _str | None = ..., status: Job.State | _str | None = ..., client_job_id: _str | None = ..., jobspec_id: _str | None = ..., version: _str | None = ..., benchmark: _str | None = ..., signature_version: _int | None = ..., public_key: _str | None = ..., key_id: _str | None = ..., canonical_sha256: _str | None = ..., canonical_len: _int | None = ..., min_regions: _int | None = ..., min_success_rate: _float | None = ..., total_regions: _int | None = ..., successful_regions: _int | None = ..., failed_regions: _int | None = ..., executions: _Iterable[JobExecution | _Mapping[_str, _Any]] | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., end_time: _datetime | _Mapping[_str, _Any] | None = ..., cancel_request_time: _datetime | _Mapping[_str, _Any] | None = ..., document: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time", "end_time", "cancel_request_time"]) -> _bool: ...

class JobExecution(_Message):
    """The run of a job in one region."""
    class State(_int):
        """State of the run, with the same values as Run.State."""
        STATE_UNSPECIFIED: _ClassVar[JobExecution.State]
        """Unspecified: not a valid state."""
        STATE_QUEUED: _ClassVar[JobExecution.State]
        """The run waits for a free slot."""
        STATE_RUNNING: _ClassVar[JobExecution.State]
        """A replica works on the run."""
        STATE_WAITING: _ClassVar[JobExecution.State]
        """The run is parked until a provider accepts requests again."""
        STATE_COMPLETED: _ClassVar[JobExecution.State]
        """The run ended successfully."""
        STATE_FAILED: _ClassVar[JobExecution.State]
        """The run ended with a failure."""
        STATE_CANCELLED: _ClassVar[JobExecution.State]
        """The run ended because its cancellation was requested."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> JobExecution.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[JobExecution.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, JobExecution.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[JobExecution.State]
    STATE_QUEUED: _ClassVar[JobExecution.State]
    STATE_RUNNING: _ClassVar[JobExecution.State]
    STATE_WAITING: _ClassVar[JobExecution.State]
    STATE_COMPLETED: _ClassVar[JobExecution.State]
    STATE_FAILED: _ClassVar[JobExecution.State]
    STATE_CANCELLED: _ClassVar[JobExecution.State]

    region: _str
    """Name of the region."""
    run_id: _str
    """Id of the run. RunService has its log, and ReceiptService has its receipt."""
    status: JobExecution.State
    """State of the run."""
    output: _str
    """
    Output of the run, as a JSON object. For a failure it is `{"error", "error_code", "failure": {…}}`. Unset until the run has
    ended, and in lists.
    """
    error_code: _str
    """Failure code, such as `RUNNER_EARLY_FAILURE` or `runner.timeout`."""
    error: _str
    """Description of the failure."""
    start_time: _Timestamp
    """Time when a replica first worked on the run."""
    end_time: _Timestamp
    """Time when the run ended."""
    def __init__(self, *, region: _str | None = ..., run_id: _str | None = ..., status: JobExecution.State | _str | None = ..., output: _str | None = ..., error_code: _str | None = ..., error: _str | None = ..., start_time: _datetime | _Mapping[_str, _Any] | None = ..., end_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["output", "start_time", "end_time"]) -> _bool: ...

class SubmitJobRequest(_Message):
    """Request of SubmitJob."""
    document: _m_google_api.HttpBody
    """
    The JobSpec as JSON, in exactly the bytes that the signer wrote, or a wrapper object that contains it: `{"jobspec": …,
    "target_regions": […], "min_regions": 3, "min_success_rate": 0.67, "enable_analysis": false}`. Only the inner object is
    signed, so the wrapper's other members may narrow the signed values and never widen them. At most 1 MiB. The content type
    does not matter.
    """
    request_id: _str
    """
    Idempotency key: the same id with the same document gives the first answer again. The same id with another document gives
    ALREADY_EXISTS (REQUEST_ID_REUSED).
    """
    def __init__(self, *, document: _m_google_api.HttpBody | _Mapping[_str, _Any] | None = ..., request_id: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["document"]) -> _bool: ...

class SubmitJobResponse(_Message):
    """Response of SubmitJob. The fields after `idempotent` are set for a spec that was sent inside a wrapper."""
    id: _str
    """Id of the job."""
    status: _str
    """`enqueued`, or `queued` for a spec in a wrapper. Unset when an earlier answer is repeated."""
    idempotent: _bool
    """True when an earlier call with this `request_id` created the job. Over REST the status is then 200, otherwise 202."""
    job_id: _str
    """Id of the job, the same as `id`."""
    cross_region_execution_id: _str
    """Id of the job, the same as `id`."""
    jobspec_id: _str
    """The signed `jobspec_id`, or the `id` in the submitted spec."""
    total_regions: _int
    """Number of regions that the job runs in."""
    min_regions: _int
    """Number of regions that must end successfully."""
    submitted_at: _Timestamp
    """Time when the job was accepted."""
    estimated_duration: _str
    """Maximum duration of the job's runs, such as `600s`."""
    def __init__(self, *, id: _str | None = ..., status: _str | None = ..., idempotent: _bool | None = ..., job_id: _str | None = ..., cross_region_execution_id: _str | None = ..., jobspec_id: _str | None = ..., total_regions: _int | None = ..., min_regions: _int | None = ..., submitted_at: _datetime | _Mapping[_str, _Any] | None = ..., estimated_duration: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["submitted_at"]) -> _bool: ...

class GetJobRequest(_Message):
    """Request of GetJob."""
    id: _str
    """Id of the job."""
    def __init__(self, *, id: _str | None = ...) -> None: ...

class GetJobResponse(_Message):
    """Response of GetJob."""
    job: Job
    """The job."""
    def __init__(self, *, job: Job | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["job"]) -> _bool: ...

class ListJobsRequest(_Message):
    """Request of ListJobs."""
    page_size: _int
    """Maximum number of jobs to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListJobsResponse(_Message):
    """Response of ListJobs."""
    jobs: _Messages[Job]
    """The jobs, newest first."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, jobs: _Iterable[Job | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class WatchJobRequest(_Message):
    """Request of WatchJob."""
    id: _str
    """Id of the job."""
    def __init__(self, *, id: _str | None = ...) -> None: ...

class WatchJobResponse(_Message):
    """Response of WatchJob."""
    job: Job
    """The current state of the job."""
    def __init__(self, *, job: Job | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["job", "event"]) -> _bool: ...
    def WhichOneof(self, oneof_group: _Literal["event"]) -> _Literal["job"] | None: ...

class CancelJobRequest(_Message):
    """Request of CancelJob."""
    id: _str
    """Id of the job."""
    def __init__(self, *, id: _str | None = ...) -> None: ...

class CancelJobResponse(_Message):
    """Response of CancelJob."""
    job: Job
    """The job after the request was recorded."""
    def __init__(self, *, job: Job | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["job"]) -> _bool: ...

class JobService(_Service):
    """
    Works on signed jobs ("Portal ↔ Runner Signing Contract").

    A job belongs to the client that submitted it. Every other client gets NOT_FOUND with reason JOB_NOT_FOUND, exactly as for an
    unknown id.
    """
    def submit_job(self, request: SubmitJobRequest, *, timeout: _float | None = ...) -> SubmitJobResponse:
        """
        Verifies a signed JobSpec and starts one run for each of its regions.

        The service checks in this order: size, JSON, format of signature and key, trust in the key, the signature, the time in
        `metadata.timestamp`, that `metadata.nonce` is new for the key, the fields of the spec. The response reports the first
        check that fails: INVALID_ARGUMENT (JOBSPEC_INVALID), PERMISSION_DENIED (JOBSPEC_UNTRUSTED) or ALREADY_EXISTS
        (JOBSPEC_REPLAYED). Over REST all of them have status 400 and the contract's own code as `error_code`. The error's metadata
        has that code too. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) while too many runs are active; the nonce then stays unused.

        May be retried with the same `request_id` (over REST also the header `Idempotency-Key`): the retry gets the first answer
        again.
        """
        ...
    def get_job(self, request: GetJobRequest, *, timeout: _float | None = ...) -> GetJobResponse:
        """Returns one job."""
        ...
    def list_jobs(self, request: ListJobsRequest, *, timeout: _float | None = ...) -> ListJobsResponse:
        """Lists the jobs of the calling client, newest first."""
        ...
    def watch_job(self, request: WatchJobRequest, *, timeout: _float | None = ...) -> _Iterator[WatchJobResponse]:
        """
        Streams the state of a job: first its current state, then each change of the job or of one of its runs, until the job has
        ended.

        A response without a job opens the stream at once and keeps it alive every 15 s. OK means that the job has ended. After
        UNAVAILABLE (RESUME), call again. The output of each run is in its own log: RunService.TailRun.
        """
        ...
    def cancel_job(self, request: CancelJobRequest, *, timeout: _float | None = ...) -> CancelJobResponse:
        """
        Requests the cancellation of all runs of a job, and returns the job without waiting for their ends.

        Cancelling an ended job changes nothing. May be retried.
        """
        ...

class AsyncJobService(_AsyncService):
    """
    Works on signed jobs ("Portal ↔ Runner Signing Contract").

    A job belongs to the client that submitted it. Every other client gets NOT_FOUND with reason JOB_NOT_FOUND, exactly as for an
    unknown id.
    """
    async def submit_job(self, request: SubmitJobRequest, *, timeout: _float | None = ...) -> SubmitJobResponse:
        """
        Verifies a signed JobSpec and starts one run for each of its regions.

        The service checks in this order: size, JSON, format of signature and key, trust in the key, the signature, the time in
        `metadata.timestamp`, that `metadata.nonce` is new for the key, the fields of the spec. The response reports the first
        check that fails: INVALID_ARGUMENT (JOBSPEC_INVALID), PERMISSION_DENIED (JOBSPEC_UNTRUSTED) or ALREADY_EXISTS
        (JOBSPEC_REPLAYED). Over REST all of them have status 400 and the contract's own code as `error_code`. The error's metadata
        has that code too. RESOURCE_EXHAUSTED (CONCURRENCY_EXHAUSTED) while too many runs are active; the nonce then stays unused.

        May be retried with the same `request_id` (over REST also the header `Idempotency-Key`): the retry gets the first answer
        again.
        """
        ...
    async def get_job(self, request: GetJobRequest, *, timeout: _float | None = ...) -> GetJobResponse:
        """Returns one job."""
        ...
    async def list_jobs(self, request: ListJobsRequest, *, timeout: _float | None = ...) -> ListJobsResponse:
        """Lists the jobs of the calling client, newest first."""
        ...
    def watch_job(self, request: WatchJobRequest, *, timeout: _float | None = ...) -> _AsyncIterator[WatchJobResponse]:
        """
        Streams the state of a job: first its current state, then each change of the job or of one of its runs, until the job has
        ended.

        A response without a job opens the stream at once and keeps it alive every 15 s. OK means that the job has ended. After
        UNAVAILABLE (RESUME), call again. The output of each run is in its own log: RunService.TailRun.
        """
        ...
    async def cancel_job(self, request: CancelJobRequest, *, timeout: _float | None = ...) -> CancelJobResponse:
        """
        Requests the cancellation of all runs of a job, and returns the job without waiting for their ends.

        Cancelling an ended job changes nothing. May be retried.
        """
        ...

class TrustedKey(_Message):
    """
    A public key whose signatures of JobSpecs are accepted ("Portal ↔ Runner Signing Contract", Trust List). The list consists of
    the keys that are stored here and the keys in the settings (`TRUSTED_KEYS_JSON`, `TRUSTED_KEYS_FILE`). A key that is revoked
    in either place is revoked.
    """
    class State(_int):
        """Whether signatures of the key are accepted during its validity period."""
        STATE_UNSPECIFIED: _ClassVar[TrustedKey.State]
        """Same as STATE_ACTIVE."""
        STATE_ACTIVE: _ClassVar[TrustedKey.State]
        """Signatures are accepted."""
        STATE_REVOKED: _ClassVar[TrustedKey.State]
        """Signatures are refused, no matter when they were made. A revocation is permanent."""
        @classmethod
        def Name(cls, number: _int) -> _str: ...
        @classmethod
        def Value(cls, name: _str) -> TrustedKey.State: ...
        @classmethod
        def keys(cls) -> list[_str]: ...
        @classmethod
        def values(cls) -> list[TrustedKey.State]: ...
        @classmethod
        def items(cls) -> list[tuple[_str, TrustedKey.State]]: ...
    STATE_UNSPECIFIED: _ClassVar[TrustedKey.State]
    STATE_ACTIVE: _ClassVar[TrustedKey.State]
    STATE_REVOKED: _ClassVar[TrustedKey.State]

    kid: _str
    """Name of the key, unique in the list: 1 to 128 letters, digits and `._-`."""
    public_key: _str
    """The 32 bytes of the public key in standard base64."""
    status: TrustedKey.State
    """Whether signatures of the key are accepted."""
    not_before: _Timestamp
    """Time from which signatures are accepted; unset means no lower limit."""
    not_after: _Timestamp
    """Last time at which signatures are accepted, inclusive; unset means no upper limit."""
    client_ids: _Scalars[_str]
    """
    Ids of the clients that may submit specs signed by this key; empty means all. Only clients with a key of their own count: a
    client id that a caller merely claims, under the shared secret, does not match.
    """
    regions: _Scalars[_str]
    """Regions that specs signed by this key may run in; empty means all."""
    runners: _Scalars[_str]
    """Names of the runners that may execute specs signed by this key; empty means all. The service's own runner is `benchmark`."""
    thumbprint: _str
    """RFC 7638 thumbprint of the key, which signatures of version 2 name as `kid`."""
    is_configured: _bool
    """True for a key of the settings, which no call can change."""
    create_time: _Timestamp
    """Time when the key was added; unset for a key of the settings."""
    update_time: _Timestamp
    """Time of the last change; unset for a key of the settings."""
    def __init__(self, *, kid: _str | None = ..., public_key: _str | None = ..., status: TrustedKey.State | _str | None = ..., not_before: _datetime | _Mapping[_str, _Any] | None = ..., not_after: _datetime | _Mapping[_str, _Any] | None = ..., client_ids: _Iterable[_str] | None = ..., regions: _Iterable[_str] | None = ..., runners: _Iterable[_str] | None = ..., thumbprint: _str | None = ..., is_configured: _bool | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., update_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["not_before", "not_after", "create_time", "update_time"]) -> _bool: ...

class TrustEvent(_Message):
    """One entry of the trust audit log: a change of a key, or a refused JobSpec."""
    event_id: _str
    """Id of the entry. Ids sort by time."""
    create_time: _Timestamp
    """Time of the event."""
    type: _str
    """Type of the entry: `key.created`, `key.updated`, `key.revoked`, `receipt_key.rotated` or `jobspec.refused`."""
    actor: _str
    """The actor: `admin`, or the id of the client that submitted the spec."""
    kid: _str
    """Name of the key, where it is known."""
    public_key: _str
    """The key in standard base64, where the spec had a readable key."""
    error_code: _str
    """Code of the refusal, such as `signature_mismatch`."""
    document_sha256: _str
    """SHA-256 of the refused document, lower-case hex."""
    detail: _str
    """Further details, as a JSON object: for a change the key before and after it."""
    def __init__(self, *, event_id: _str | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ..., type: _str | None = ..., actor: _str | None = ..., kid: _str | None = ..., public_key: _str | None = ..., error_code: _str | None = ..., document_sha256: _str | None = ..., detail: _str | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["create_time", "detail"]) -> _bool: ...

class VerifyJobSpecRequest(_Message):
    """Request of VerifyJobSpec."""
    document: _m_google_api.HttpBody
    """
    The inner JobSpec, without a wrapper, in exactly the bytes that would be submitted. At most 1 MiB. The content type does
    not matter.
    """
    signed_bytes: _bytes
    """The bytes that the signer signed, for a comparison; optional."""
    def __init__(self, *, document: _m_google_api.HttpBody | _Mapping[_str, _Any] | None = ..., signed_bytes: _bytes | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["document"]) -> _bool: ...

class VerifyJobSpecResponse(_Message):
    """Response of VerifyJobSpec. The contract defines the first six fields; the others are Runnel's own."""
    verify: _str
    """Result of the check: `ok` or `failed`."""
    server_canonical_len: _int
    """Length of the bytes that the signature must cover."""
    server_canonical_sha256: _str
    """SHA-256 of the bytes that the signature must cover, lower-case hex."""
    has_execution_type: _bool
    """True when the spec has `metadata.execution_type`."""
    has_estimated_cost: _bool
    """True when the spec has `metadata.estimated_cost`."""
    has_created_at: _bool
    """True when the spec has `created_at`."""
    error_code: _str
    """Code with which SubmitJob would refuse the spec; unset when it would accept it."""
    reason: _str
    """The refusal in one sentence, for people."""
    pitfalls: _Scalars[_str]
    """
    Names of the mistakes that together explain the signature, such as `wrapper_signed` or `trailing_newline`. Empty when the
    signature is valid, or when no known mistake explains it.
    """
    advice: _Scalars[_str]
    """How to correct each of the mistakes."""
    canonical: _str
    """The text that the signature must cover; unset when it is longer than 1 MiB."""
    trust: _str
    """State of the key in the trust list: `trusted`, `unknown`, `revoked`, `not_yet_valid` or `expired`."""
    kid: _str
    """Name of the key in the trust list."""
    signature_version: _int
    """Version of the signature scheme that the spec claims."""
    warnings: _Scalars[_str]
    """Parts of the document that are read differently from how they were written, such as a duplicate name."""
    difference: ByteDifference
    """First difference between `signed_bytes` and the canonical text; unset when both are equal or no `signed_bytes` were sent."""
    def __init__(self, *, verify: _str | None = ..., server_canonical_len: _int | None = ..., server_canonical_sha256: _str | None = ..., has_execution_type: _bool | None = ..., has_estimated_cost: _bool | None = ..., has_created_at: _bool | None = ..., error_code: _str | None = ..., reason: _str | None = ..., pitfalls: _Iterable[_str] | None = ..., advice: _Iterable[_str] | None = ..., canonical: _str | None = ..., trust: _str | None = ..., kid: _str | None = ..., signature_version: _int | None = ..., warnings: _Iterable[_str] | None = ..., difference: ByteDifference | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["difference"]) -> _bool: ...

class ByteDifference(_Message):
    """The first difference between two texts."""
    offset: _int
    """Number of equal bytes before the difference."""
    expected: _str
    """The canonical text around the difference."""
    given: _str
    """The signer's bytes at the difference."""
    def __init__(self, *, offset: _int | None = ..., expected: _str | None = ..., given: _str | None = ...) -> None: ...

class CreateTrustedKeyRequest(_Message):
    """Request of CreateTrustedKey."""
    key: TrustedKey
    """The key to add. The service ignores its status, times of creation and change, and thumbprint."""
    def __init__(self, *, key: TrustedKey | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["key"]) -> _bool: ...

class CreateTrustedKeyResponse(_Message):
    """Response of CreateTrustedKey."""
    key: TrustedKey
    """The key as it is stored."""
    def __init__(self, *, key: TrustedKey | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["key"]) -> _bool: ...

class ListTrustedKeysRequest(_Message):
    """Request of ListTrustedKeys."""
    page_size: _int
    """Maximum number of keys to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListTrustedKeysResponse(_Message):
    """Response of ListTrustedKeys."""
    keys: _Messages[TrustedKey]
    """The keys, by name. The keys of the settings come first, all of them on the first page."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, keys: _Iterable[TrustedKey | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class UpdateTrustedKeyRequest(_Message):
    """Request of UpdateTrustedKey."""
    key: TrustedKey
    """The changed key. `kid` names the key to change."""
    update_mask: _FieldMask
    """
    The fields to change: `not_before`, `not_after`, `client_ids`, `regions`, `runners`, or `*` for all of them. Unset means
    the fields that are set in `key`.
    """
    def __init__(self, *, key: TrustedKey | _Mapping[_str, _Any] | None = ..., update_mask: _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["key", "update_mask"]) -> _bool: ...

class UpdateTrustedKeyResponse(_Message):
    """Response of UpdateTrustedKey."""
    key: TrustedKey
    """The key as it is stored now."""
    def __init__(self, *, key: TrustedKey | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["key"]) -> _bool: ...

class RevokeTrustedKeyRequest(_Message):
    """Request of RevokeTrustedKey."""
    kid: _str
    """Name of the key."""
    def __init__(self, *, kid: _str | None = ...) -> None: ...

class RevokeTrustedKeyResponse(_Message):
    """Response of RevokeTrustedKey."""
    key: TrustedKey
    """The revoked key."""
    def __init__(self, *, key: TrustedKey | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["key"]) -> _bool: ...

class ListTrustEventsRequest(_Message):
    """Request of ListTrustEvents."""
    type: _str
    """Event type: returns only events of this type; unset means all types."""
    page_size: _int
    """Maximum number of events to return: 1 to 250; 0 means 50."""
    page_token: _str
    """`next_page_token` of the previous page; unset means the first page."""
    def __init__(self, *, type: _str | None = ..., page_size: _int | None = ..., page_token: _str | None = ...) -> None: ...

class ListTrustEventsResponse(_Message):
    """Response of ListTrustEvents."""
    events: _Messages[TrustEvent]
    """The events, newest first."""
    next_page_token: _str
    """Token of the next page; empty on the last page."""
    def __init__(self, *, events: _Iterable[TrustEvent | _Mapping[_str, _Any]] | None = ..., next_page_token: _str | None = ...) -> None: ...

class RotateReceiptKeyRequest(_Message):
    """Request of RotateReceiptKey."""
    def __init__(self) -> None: ...

class RotateReceiptKeyResponse(_Message):
    """Response of RotateReceiptKey."""
    key: _m_v1.Jwk
    """The key that signs from now on."""
    create_time: _Timestamp
    """Time of creation of the key."""
    def __init__(self, *, key: _m_v1.Jwk | _Mapping[_str, _Any] | None = ..., create_time: _datetime | _Mapping[_str, _Any] | None = ...) -> None: ...
    def HasField(self, field_name: _Literal["key", "create_time"]) -> _bool: ...

class TrustService(_Service):
    """Works on trust: the keys whose JobSpecs are run, the diagnosis of invalid signatures, and the key that signs receipts."""
    def verify_job_spec(self, request: VerifyJobSpecRequest, *, timeout: _float | None = ...) -> VerifyJobSpecResponse:
        """
        Checks whether the key and the signature of a JobSpec would be accepted, and explains a refusal. It uses the same code as
        SubmitJob ("Portal ↔ Runner Signing Contract", Testing and Diagnostics).

        Nothing is stored, and the nonce stays unused. Each address may call at most once every 10 seconds
        (`trust.verify_interval_sec`): otherwise RESOURCE_EXHAUSTED (RATE_LIMITED) with the time to wait. INVALID_ARGUMENT
        (JOBSPEC_INVALID) for a document that is not a JSON object. Every other problem is reported in the response.
        """
        ...
    def create_trusted_key(self, request: CreateTrustedKeyRequest, *, timeout: _float | None = ...) -> CreateTrustedKeyResponse:
        """Adds a key. ALREADY_EXISTS (KEY_EXISTS) when its name or its bytes are in the list. INVALID_ARGUMENT for a weak key."""
        ...
    def list_trusted_keys(self, request: ListTrustedKeysRequest, *, timeout: _float | None = ...) -> ListTrustedKeysResponse:
        """Lists the keys by name, including the keys of the settings."""
        ...
    def update_trusted_key(self, request: UpdateTrustedKeyRequest, *, timeout: _float | None = ...) -> UpdateTrustedKeyResponse:
        """
        Changes the validity period and the scope of a key. NOT_FOUND (KEY_NOT_FOUND) for a name that is not stored here.
        FAILED_PRECONDITION (KEY_REVOKED) for a revoked key. May be retried.
        """
        ...
    def revoke_trusted_key(self, request: RevokeTrustedKeyRequest, *, timeout: _float | None = ...) -> RevokeTrustedKeyResponse:
        """
        Revokes a key permanently, on every replica at once. Jobs that it signed and that have not begun fail when they begin.
        Revoking a revoked key changes nothing. May be retried.
        """
        ...
    def list_trust_events(self, request: ListTrustEventsRequest, *, timeout: _float | None = ...) -> ListTrustEventsResponse:
        """Lists the entries of the trust audit log, newest first: changes of keys and refused JobSpecs."""
        ...
    def rotate_receipt_key(self, request: RotateReceiptKeyRequest, *, timeout: _float | None = ...) -> RotateReceiptKeyResponse:
        """
        Creates a new key that signs receipts from now on. The earlier keys stay published, so that earlier receipts can still be
        verified. A retry creates another key.
        """
        ...

class AsyncTrustService(_AsyncService):
    """Works on trust: the keys whose JobSpecs are run, the diagnosis of invalid signatures, and the key that signs receipts."""
    async def verify_job_spec(self, request: VerifyJobSpecRequest, *, timeout: _float | None = ...) -> VerifyJobSpecResponse:
        """
        Checks whether the key and the signature of a JobSpec would be accepted, and explains a refusal. It uses the same code as
        SubmitJob ("Portal ↔ Runner Signing Contract", Testing and Diagnostics).

        Nothing is stored, and the nonce stays unused. Each address may call at most once every 10 seconds
        (`trust.verify_interval_sec`): otherwise RESOURCE_EXHAUSTED (RATE_LIMITED) with the time to wait. INVALID_ARGUMENT
        (JOBSPEC_INVALID) for a document that is not a JSON object. Every other problem is reported in the response.
        """
        ...
    async def create_trusted_key(self, request: CreateTrustedKeyRequest, *, timeout: _float | None = ...) -> CreateTrustedKeyResponse:
        """Adds a key. ALREADY_EXISTS (KEY_EXISTS) when its name or its bytes are in the list. INVALID_ARGUMENT for a weak key."""
        ...
    async def list_trusted_keys(self, request: ListTrustedKeysRequest, *, timeout: _float | None = ...) -> ListTrustedKeysResponse:
        """Lists the keys by name, including the keys of the settings."""
        ...
    async def update_trusted_key(self, request: UpdateTrustedKeyRequest, *, timeout: _float | None = ...) -> UpdateTrustedKeyResponse:
        """
        Changes the validity period and the scope of a key. NOT_FOUND (KEY_NOT_FOUND) for a name that is not stored here.
        FAILED_PRECONDITION (KEY_REVOKED) for a revoked key. May be retried.
        """
        ...
    async def revoke_trusted_key(self, request: RevokeTrustedKeyRequest, *, timeout: _float | None = ...) -> RevokeTrustedKeyResponse:
        """
        Revokes a key permanently, on every replica at once. Jobs that it signed and that have not begun fail when they begin.
        Revoking a revoked key changes nothing. May be retried.
        """
        ...
    async def list_trust_events(self, request: ListTrustEventsRequest, *, timeout: _float | None = ...) -> ListTrustEventsResponse:
        """Lists the entries of the trust audit log, newest first: changes of keys and refused JobSpecs."""
        ...
    async def rotate_receipt_key(self, request: RotateReceiptKeyRequest, *, timeout: _float | None = ...) -> RotateReceiptKeyResponse:
        """
        Creates a new key that signs receipts from now on. The earlier keys stay published, so that earlier receipts can still be
        verified. A retry creates another key.
        """
        ...

