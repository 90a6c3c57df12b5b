"""Holds bodies of requests against the model of Converse in Amazon's own SDK, where a field too many is an error.

`check-amazon.py FOLDER` reads the bodies of Converse in a folder, as `run` makes them; without a folder it reads one
body from standard input.
"""

import base64
import json
import pathlib
import re
import sys

import botocore.session
from botocore.validate import ParamValidator

SHAPE = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("ConverseStream").input_shape
# Not even botocore looks into these: they are any JSON.
ANY = {"additionalModelRequestFields", "input", "json"}


def decoded(value, name=""):
    """Returns a body as botocore has it before it is written: bytes are base64 on the wire."""
    if name in ANY:
        return value
    if isinstance(value, dict):
        return {inner: decoded(item, inner) for inner, item in value.items()}
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return base64.b64decode(value, validate=True) if name in {"bytes", "redactedContent"} else value


def unfit(value, shape, place=""):
    """Names the texts that are none of a choice, or have not the pattern: the validator lets them pass."""
    if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
        for name in value.keys() & shape.members.keys():
            yield from unfit(value[name], shape.members[name], f"{place}.{name}")
    elif shape.type_name == "list":
        for at, inner in enumerate(value):
            yield from unfit(inner, shape.member, f"{place}.{at}")
    elif shape.type_name == "string":
        pattern = shape.metadata.get("pattern", ".*")
        if shape.enum and value not in shape.enum or not re.fullmatch(pattern, value, re.DOTALL):
            yield f"{place}: {value} does not fit {shape.name}"


def problems(text):
    """Says what is wrong with a body."""
    body = {"modelId": "amazon.nova-pro-v1:0", **decoded(json.loads(text))}
    report = ParamValidator().validate(body, SHAPE)
    return ([report.generate_report()] if report.has_errors() else []) + list(unfit(body, SHAPE))


if len(sys.argv) == 1:
    found = problems(sys.stdin.read())
else:
    files = sorted(pathlib.Path(sys.argv[1]).glob("Converse-*.json"))
    found = [f"{file.name}: {problem}" for file in files for problem in problems(file.read_text())]
    found += [] if files else ["no body of Converse came, so nothing was compared"]
    print(f"{len(files)} kinds of bodies of Converse were held against botocore's model")
for problem in found:
    print(problem, file=sys.stderr)
sys.exit(1 if found else 0)
