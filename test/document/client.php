<?php
// A client written from the Agent Runner document alone: makes a session with a tool of its own application, sends a task and
// prints what the stream says until `done`, one line of JSON each.
// `php client.php <url> <secret> <callback url> <task>`

require __DIR__ . '/sign-request.php';

[, $url, $secret, $callbackUrl, $task] = $argv;

function call(string $method, string $path, ?array $request = null)
{
    global $url, $secret;
    $body = $request === null ? '' : json_encode($request);
    $headers = ['X-Client-ID: my-app', 'Content-Type: application/json', ...signRequest($secret, $body)];
    $http = ['method' => $method, 'header' => $headers, 'content' => $body, 'ignore_errors' => true];
    $stream = fopen($url . $path, 'r', false, stream_context_create(['http' => $http]));
    $status = (int) explode(' ', $http_response_header[0])[1];
    if ($status >= 300) {
        fwrite(STDERR, "{$status}: " . stream_get_contents($stream));
        exit(1);
    }
    return $stream;
}

function answer($stream): array
{
    return json_decode(stream_get_contents($stream), true, 64, JSON_THROW_ON_ERROR);
}

function say(string $what, $value): void
{
    echo json_encode([$what, $value]), "\n";
}

$created = answer(call('POST', '/v1/sessions', [
    'callback' => ['base_url' => $callbackUrl],
    'agent' => [
        'name' => 'sample',
        'tools' => [
            'builtin' => [],
            'remote' => [
                ['name' => 'search_docs', 'description' => 'Searches.', 'parameters' => [
                    'type' => 'object',
                    'properties' => ['query' => ['type' => 'string']],
                    'required' => ['query'],
                ]],
                // PHP writes an empty array for what should be an empty object.
                ['name' => 'forget_all', 'description' => 'The application does not have it.', 'parameters' => []],
            ],
        ],
    ],
]));
$path = "/v1/sessions/{$created['session_id']}";
$sent = answer(call('POST', "{$path}/messages", ['message' => $task]));
say('tools', $sent['tools_registered']);

$event = '';
$stream = call('GET', "{$path}/stream");
while (($line = fgets($stream)) !== false) {
    if (str_starts_with($line, 'event: ')) {
        $event = trim(substr($line, 7));
    } elseif (str_starts_with($line, 'data: ')) {
        $data = json_decode(substr($line, 6), true, 64, JSON_THROW_ON_ERROR);
        unset($data['duration_ms']);
        say($event, $data);
    }
}

say('session', answer(call('GET', $path))['status']);
say('deletion', answer(call('DELETE', $path))['status']);
