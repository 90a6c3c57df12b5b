"""Talks with the harness's model server by Amazon's own SDK: a step with two calls, their results, and the answer.

It says what it read as JSON. `sdk-amazon.py URL MODEL` with AWS's variables for credentials; the story in
tests/tests/sdks.rs runs it. What it reads, it reads with the parser of event streams and the types of botocore.
"""

import json
import sys

import botocore.session
from botocore.config import Config

URL, MODEL = sys.argv[1:]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = {"name": "read_file", "description": "Reads a file.", "inputSchema": {"json": SCHEMA}}

session = botocore.session.get_session()
settings = Config(retries={"total_max_attempts": 1}, proxies={})
bedrock = session.create_client("bedrock-runtime", region_name="eu-west-1", endpoint_url=URL, config=settings)
messages = [{"role": "user", "content": [{"text": "Look."}]}]


def whole(events):
    """Returns the blocks of a stream, why it ended, and what was used."""
    blocks, reason, usage = [], None, None
    for event in events:
        [(name, event)] = event.items()
        if name == "contentBlockStart":
            blocks.append({"toolUse": {**event["start"]["toolUse"], "input": ""}})
        elif name == "contentBlockDelta":
            if event["contentBlockIndex"] == len(blocks):
                blocks.append({})
            add(blocks[event["contentBlockIndex"]], event["delta"])
        elif name == "messageStop":
            reason = event["stopReason"]
        elif name == "metadata":
            usage = event["usage"]
    for block in blocks:
        if "reasoningContent" in block:
            block["reasoningContent"] = {"reasoningText": block["reasoningContent"]}
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return blocks, reason, usage


def add(block, delta):
    """Adds the texts of a piece to those of its block."""
    for name, value in delta.items():
        if isinstance(value, dict):
            add(block.setdefault(name, {}), value)
        else:
            block[name] = block.get(name, "") + value


def ask(streams=True):
    """Asks for an answer, and keeps its blocks in the conversation as they came."""
    request = {
        "modelId": MODEL,
        "messages": messages,
        "system": [{"text": "Be brief."}],
        "toolConfig": {"tools": [{"toolSpec": TOOL}]},
        "inferenceConfig": {"maxTokens": 2000},
    }
    if streams:
        content, reason, usage = whole(bedrock.converse_stream(**request)["stream"])
    else:
        answer = bedrock.converse(**request)
        content, reason, usage = answer["output"]["message"]["content"], answer["stopReason"], answer["usage"]
    messages.append({"role": "assistant", "content": content})
    thoughts = [block["reasoningContent"]["reasoningText"] for block in content if "reasoningContent" in block]
    calls = [block["toolUse"] for block in content if "toolUse" in block]
    return {
        "text": "".join(block.get("text", "") for block in content),
        "thought": "".join(thought["text"] for thought in thoughts),
        "calls": [{"id": call["toolUseId"], "args": call["input"]} for call in calls],
        "signatures": sum("signature" in thought for thought in thoughts),
        "finished": reason == "end_turn",
        "cached": usage["cacheReadInputTokens"],
    }


step = ask()
results = [
    {"toolResult": {"toolUseId": call["id"], "content": [{"text": f"of {call['args']['path']}"}]}}
    for call in step["calls"]
]
messages.append({"role": "user", "content": results})
answer = ask()
messages.append({"role": "user", "content": [{"text": "And now?"}]})
last = ask(streams=False)
print(json.dumps({"step": step, "answer": answer, "last": last}))
