# What the tables of Python programs share: the cases, the tools, and how they are checked. Only the base URL and the key are ours.
# Prints a line of JSON for each case: the client, the feature, and what went wrong. Further arguments name the clients to run.

import json, os, sys, warnings

warnings.filterwarnings("ignore")
base_url, key, *only = sys.argv[1:]
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from pydantic import BaseModel

MODEL = "gpt-4o-mini"
GREETING = "Hello there, friend."
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = f"data:image/png;base64,{PNG}"
SAW = "I see an image."


class City(BaseModel):
    city: str
    degrees: int


def get_weather(city: str) -> str:
    """Tells the weather of a city.

    Args:
        city: The name of the city.
    """
    return f"{city} is sunny"


def get_time() -> str:
    """Tells the time."""
    return "noon"


WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
cases = []


def case(client, feature):
    def add(run):
        cases.append((client, feature, run))
        return run
    return add


def same(got, wanted):
    assert got == wanted, f"{got!r} is not {wanted!r}"


def raises(kinds, call):
    try:
        call()
    except kinds as error:
        return error
    raise AssertionError(f"nothing was raised, not {kinds}")


# The model of a case that leaves in mid-stream. The test knows by its name whose request it was.
def slow(client):
    return f"{MODEL}-slow-{client.replace(' ', '_')}"


# The errors that a client has to tell apart: the model whose name asks for one, the key, the class, and the code in the message.
def errors_of(client, call, kinds, codes=(), wrap=lambda error: error, too_many="quota"):
    wanted = [
        (f"{MODEL}-fail-bad", key), (MODEL, "wrong"), ("no-such-model", key), (f"{MODEL}-fail-{too_many}", key), (f"{MODEL}-fail-context", key)
    ]

    def run():
        for (model, own), kind, code in zip(wanted, kinds, codes or [None] * len(kinds)):
            error = wrap(raises(Exception, lambda: call(model, own)))
            assert isinstance(error, kind), f"{model}: {type(error).__mro__} is no {kind.__name__}: {error}"
            assert code is None or code in str(error), f"{model}: {error}"
    cases.append((client, "errors", run))


def run_cases(*adders):
    for add in adders:
        if not only or any(add.__name__.startswith(each) for each in only):
            add()
    for client, feature, run in cases:
        problem = None
        try:
            run()
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"[:600]
        print(json.dumps({"client": client, "feature": feature, "problem": problem}), flush=True)
