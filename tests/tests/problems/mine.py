#!/usr/bin/env python3
"""A language server for tests. It finds an error in each line that says `bad`, and in each that says `needs NAME` where the
file `shapes.mine` beside it does not say `has NAME`. What it has read from disk it reads anew only once it is told of it.

Called with `crashes` it ends as soon as a text is opened. With `silent` it tells of no problems. With `compiles` it answers for
them, and tells of others once, when a text is opened.
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


def problem(number, severity, message):
    place = {"line": number, "character": 0}
    return {"range": {"start": place, "end": place}, "severity": severity, "message": message, "source": "mine"}


def found(uri):
    lines = enumerate(texts[uri][1].split("\n"))
    return [problem(number, 1, wrong(uri, line)) for number, line in lines if wrong(uri, line)]


def publish():
    if "silent" in sys.argv or "compiles" in sys.argv:
        return
    for uri, (version, _) in texts.items():
        params = {"uri": uri, "version": version, "diagnostics": found(uri)}
        write({"method": "textDocument/publishDiagnostics", "params": params})


while True:
    message = read()
    method, params = message.get("method"), message.get("params") or {}
    document = params.get("textDocument") or {}
    if method == "initialize":
        can = {"textDocumentSync": {"openClose": True, "change": 1}}
        if "compiles" in sys.argv:
            can["diagnosticProvider"] = {"interFileDependencies": True, "workspaceDiagnostics": False}
        write({"id": message["id"], "result": {"capabilities": can, "serverInfo": {"name": "mine"}}})
    elif method == "initialized":
        watched = {"method": "workspace/didChangeWatchedFiles", "id": "w",
                   "registerOptions": {"watchers": [{"globPattern": "**/*.mine"}]}}
        write({"id": "register", "method": "client/registerCapability", "params": {"registrations": [watched]}})
    elif method == "textDocument/didOpen":
        if "crashes" in sys.argv:
            os._exit(3)
        texts[document["uri"]] = (document["version"], document["text"])
        if "compiles" in sys.argv:
            params = {"uri": document["uri"], "version": document["version"], "diagnostics": [problem(0, 2, "warned")]}
            write({"method": "textDocument/publishDiagnostics", "params": params})
        publish()
    elif method == "textDocument/didChange":
        texts[document["uri"]] = (document["version"], params["contentChanges"][0]["text"])
        publish()
    elif method == "textDocument/didClose":
        texts.pop(document["uri"], None)
    elif method == "workspace/didChangeWatchedFiles":
        read_before.clear()
        publish()
    elif method == "textDocument/diagnostic":
        write({"id": message["id"], "result": {"kind": "full", "items": found(document["uri"])}})
    elif method == "exit":
        sys.exit(0)
    elif method and "id" in message:
        write({"id": message["id"], "result": None})
