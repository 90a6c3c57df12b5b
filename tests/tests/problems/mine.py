#!/usr/bin/env python3
"""A language server for tests. It finds an error in each line that says `bad`, and in each that says `needs NAME` where the
file `shapes.mine` beside it does not say `has NAME`. What it has read from disk it reads anew only once it is told of it.

Called with `crashes` it ends as soon as a text is opened.
"""
import json
import os
import sys

out = sys.stdout.buffer
texts = {}
read_before = {}


def read():
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            break
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length))


def write(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    out.flush()


def shapes(beside):
    uri = beside.rsplit("/", 1)[0] + "/shapes.mine"
    if uri in texts:
        return texts[uri][1]
    if uri not in read_before:
        try:
            read_before[uri] = open(uri.removeprefix("file://")).read()
        except FileNotFoundError:
            read_before[uri] = ""
    return read_before[uri]


def wrong(uri, line):
    words = line.split()
    if "needs" in words:
        name = words[words.index("needs") + 1]
        return None if "has " + name in shapes(uri) else "nobody has " + name
    return "this is bad" if "bad" in line else None


def publish():
    for uri, (version, text) in texts.items():
        found = []
        for number, line in enumerate(text.split("\n")):
            message = wrong(uri, line)
            if message:
                place = {"line": number, "character": 0}
                found.append({"range": {"start": place, "end": place}, "severity": 1, "message": message, "source": "mine"})
        params = {"uri": uri, "version": version, "diagnostics": found}
        write({"method": "textDocument/publishDiagnostics", "params": params})


while True:
    message = read()
    method, params = message.get("method"), message.get("params") or {}
    document = params.get("textDocument") or {}
    if method == "initialize":
        can = {"textDocumentSync": {"openClose": True, "change": 1}}
        write({"id": message["id"], "result": {"capabilities": can, "serverInfo": {"name": "mine"}}})
    elif method == "initialized":
        watched = {"method": "workspace/didChangeWatchedFiles", "id": "w",
                   "registerOptions": {"watchers": [{"globPattern": "**/*.mine"}]}}
        write({"id": "register", "method": "client/registerCapability", "params": {"registrations": [watched]}})
    elif method == "textDocument/didOpen":
        if "crashes" in sys.argv:
            os._exit(3)
        texts[document["uri"]] = (document["version"], document["text"])
        publish()
    elif method == "textDocument/didChange":
        texts[document["uri"]] = (document["version"], params["contentChanges"][0]["text"])
        publish()
    elif method == "textDocument/didClose":
        texts.pop(document["uri"], None)
    elif method == "workspace/didChangeWatchedFiles":
        read_before.clear()
        publish()
    elif method == "exit":
        sys.exit(0)
    elif method and "id" in message:
        write({"id": message["id"], "result": None})
