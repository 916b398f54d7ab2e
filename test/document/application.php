<?php
// The application of the Agent Runner document's Laravel example in plain PHP: who calls has to have signed, then a
// controller finds the tool. States of sessions are written to standard error. The built-in server of PHP begins anew for each
// request, so nonces are kept in a directory. `SECRET=… NONCES=<directory> php -S 127.0.0.1:0 application.php`

function answer(int $status, array $body): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($body);
    exit;
}

function verify(string $body): void
{
    $timestamp = $_SERVER['HTTP_X_TIMESTAMP'] ?? '';
    $nonce = $_SERVER['HTTP_X_NONCE'] ?? '';
    $digest = hash_hmac('sha256', "{$timestamp}.{$nonce}.{$body}", getenv('SECRET'));
    if (!preg_match('/^[A-Za-z0-9_-]{8,128}$/', $nonce) || !ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 120) {
        answer(401, ['success' => false, 'error' => 'stale or malformed']);
    }
    if (!hash_equals("sha256={$digest}", $_SERVER['HTTP_X_SIGNATURE'] ?? '')) {
        answer(401, ['success' => false, 'error' => 'invalid signature']);
    }
    // Mode x makes the file or fails, in one step.
    if (@fopen(getenv('NONCES') . '/' . $nonce, 'x') === false) {
        answer(401, ['success' => false, 'error' => 'replayed']);
    }
}

class AgentToolController
{
    public function handle(string $tool, array $arguments): never
    {
        match ($tool) {
            'search_docs' => $this->searchDocs($arguments),
            default => answer(404, ['success' => false, 'error' => 'Unknown tool']),
        };
    }

    private function searchDocs(array $arguments): never
    {
        answer(200, ['success' => true, 'content' => "2 documents about {$arguments['query']}"]);
    }
}

$body = file_get_contents('php://input');
verify($body);
$call = json_decode($body, true);
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (preg_match('#^/api/agent-runner/tools/(\w+)$#', $path, $match) === 1 && $match[1] === $call['tool_name']) {
    (new AgentToolController())->handle($match[1], $call['arguments']);
}
if (preg_match('#^/api/agent-runner/sessions/([\w-]+)/status$#', $path, $match) === 1) {
    error_log("told: {$call['client_id']} {$call['status']} " . ($call['output'] ?? ''));
    answer(200, ['ok' => true]);
}
answer(404, ['error' => 'no such route']);
