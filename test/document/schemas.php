<?php
// Schemas of tools as programs in PHP write them: from arrays, by hand or out of reflection. Prints them as JSON.

/** The schema of a function's parameters, as simple generators make it. */
function schemaOf(callable $function): array
{
    $properties = [];
    foreach ((new ReflectionFunction($function))->getParameters() as $parameter) {
        $type = $parameter->getType();
        $properties[$parameter->getName()] = [
            'type' => $type->getName(),
            'nullable' => $type->allowsNull(),
            'required' => !$parameter->isOptional(),
        ];
    }
    return ['type' => 'object', 'properties' => $properties];
}

$columns = ['id' => ['type' => 'int'], 'tags' => ['type' => 'array', 'items' => []], 'secret' => null];

echo json_encode([
    'no_arguments' => ['type' => 'object', 'properties' => [], 'required' => []],
    'reflected' => schemaOf(fn (int $id, ?string $note, bool $all = false, array $tags = []) => null),
    'filtered' => [
        'type' => 'object',
        'properties' => array_filter($columns),
        'required' => array_filter(['', 'id', '', 'tags']),
    ],
    'old_draft' => [
        '$schema' => 'http://json-schema.org/draft-04/schema#',
        'type' => 'object',
        'properties' => ['price' => ['type' => 'float', 'minimum' => 0, 'exclusiveMinimum' => true]],
    ],
    'tree' => ['type' => 'object', 'properties' => ['children' => ['type' => 'array', 'items' => ['$ref' => '#']]]],
]);
