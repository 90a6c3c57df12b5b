#!/usr/bin/env python3
"""A language server for tests: it does what its first argument says, at its worst.

The definition of what stands somewhere is that place itself, four characters long. Hover tells all that was received.
"""
import json
import os
import sys
import threading
import time

behaviour = sys.argv[1] if len(sys.argv) > 1 else "good"
out = sys.stdout.buffer
log = []
texts = {}
versions = {}
heard = {}
answers = {}
held = []


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


def answer(request, result):
    write({"id": request["id"], "result": result})


def tell(method, params):
    write({"method": method, "params": params})


def ask(method, params):
    """Asks the client, and waits for the answer; what comes meanwhile is held back."""
    write({"id": "ask-" + method, "method": method, "params": params})
    while True:
        message = read()
        if message.get("id") == "ask-" + method and "method" not in message:
            return message
        held.append(message)


def progress(kind, **more):
    tell("$/progress", {"token": "reading", "value": {"kind": kind, **more}})


def problem(text, severity=1):
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    return {"range": place, "severity": severity, "message": text, "source": "nasty", "code": 42}


def publish(uri, version, text):
    problems = [problem("it says " + text.split("\n")[0])]
    params = {"uri": uri, "diagnostics": problems}
    if version is not None:
        params["version"] = version
    tell("textDocument/publishDiagnostics", params)


def changed(document, text):
    uri, version = document["uri"], document.get("version")
    before = texts.get(uri)
    if behaviour == "says-once" and text == before:
        versions[uri] = version
        return
    if behaviour == "reads-beside":
        text = text.split("\n")[0] + " beside " + open(answers["root"].removeprefix("file://") + "/b.nasty").read()
    if behaviour == "pulls-and-publishes" and before is not None:
        texts[uri] = text
        return
    texts[uri] = text
    versions[uri] = version
    if behaviour == "stale-problems":
        publish(uri, version - 1, "an earlier text")
        publish(uri, version + 100, "a later text")
    elif behaviour == "problems-without-version":
        publish(uri, None, text)
    elif behaviour == "old-first-without-version" and before is not None:
        publish(uri, None, before)
        time.sleep(0.3)
        publish(uri, None, text)
    elif behaviour == "old-only-without-version":
        publish(uri, None, text if before is None else before)
    elif behaviour == "old-first-without-version":
        publish(uri, None, text)
    elif behaviour in ("late-problems", "very-late-problems"):
        threading.Timer(0.7 if behaviour == "late-problems" else 5.5, publish, (uri, version, text)).start()
    elif behaviour == "slow-problems":
        publish(uri, version - 1, "an earlier text")
        time.sleep(0.5)
        publish(uri, version, text)
    elif behaviour not in ("no-problems", "answers-of-later", "answers-slowly-of-later", "hears-changes"):
        publish(uri, version, text)


def found():
    answers["found"] = True
    tell("window/logMessage", {"type": 3, "message": "Found 2 source files"})


def edit(uri, text):
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    return {"documentChanges": [{"textDocument": {"uri": uri, "version": None}, "edits": [{"range": place, "newText": text}]}]}


def tidied(lines, within):
    """The edits after which there is one space between words, in whole lines."""
    edits = []
    for at, line in enumerate(lines):
        new = " ".join(line.split())
        if new != line and (within is None or within["start"]["line"] <= at <= within["end"]["line"]):
            place = {"start": {"line": at, "character": 0}, "end": {"line": at, "character": len(line)}}
            edits.append({"range": place, "newText": new})
    return edits


def request(message):
    method, params = message["method"], message.get("params") or {}
    uri = (params.get("textDocument") or {}).get("uri")
    if behaviour == "mute":
        return
    if behaviour == "unknown":
        return write({"id": message["id"], "error": {"code": -32601, "message": "what?"}})
    if behaviour == "error":
        return write({"id": message["id"], "error": {"code": -32603, "message": "the name is taken"}})
    if behaviour == "crash":
        print("Segmentation fault, sort of", file=sys.stderr, flush=True)
        os._exit(3)
    if behaviour == "slow":
        # So that it can be known from outside what it is at.
        at = answers["root"].removeprefix("file://") + "/at-" + method.split("/")[-1]
        open(at, "w").close()
        time.sleep(0.7)
        # Who has something to do meanwhile says when it is done.
        while os.path.exists(answers["root"].removeprefix("file://") + "/hold"):
            time.sleep(0.01)
        os.remove(at)
    if behaviour == "fickle" and not answers.get(method):
        answers[method] = True
        return write({"id": message["id"], "error": {"code": -32801, "message": "content modified"}})
    if behaviour == "flood":
        while True:
            tell("$/progress", {"token": "flood", "value": {"kind": "report", "message": "x" * 200}})
    if behaviour == "flood-of-questions":
        while True:
            write({"id": "q", "method": "workspace/configuration", "params": {"items": [{"section": "nasty"}]}})
    if behaviour == "endless":
        out.write(b"Content-Length: 200000000\r\n\r\n")
        while True:
            out.write(b"x" * 65536)
    if behaviour == "garbage":
        while True:
            out.write(b"this is no message\n" * 100)
    if behaviour == "no-json":
        out.write(b"Content-Length: 5\r\n\r\n{oops")
        return out.flush()
    if behaviour == "deep":
        body = b'{"jsonrpc":"2.0","id":%d,"result":%s%s}' % (message["id"], b"[" * 100000, b"]" * 100000)
        out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return out.flush()
    if behaviour == "wrong-shape":
        return answer(message, {"surprise": True})
    if behaviour == "eats-memory":
        answers["eaten"] = bytearray(os.urandom(1 << 20) * 300)
        return answer(message, None)
    if behaviour == "chatty":
        print("I print where I should not", flush=True)
    if method == "textDocument/definition":
        if behaviour == "empty-while-reading" and not answers.get("read"):
            return answer(message, [])
        start = params["position"]
        end = {"line": start["line"], "character": start["character"] + 4}
        place = {"uri": uri, "range": {"start": start, "end": end}}
        return answer(message, [place] * (100000 if behaviour == "huge" else 1))
    if method == "textDocument/hover" and behaviour == "never-hovers":
        return
    if method == "textDocument/hover":
        return answer(message, {"contents": {"kind": "markdown", "value": "\n".join(log)}})
    if method == "textDocument/references":
        place = {"line": 0, "character": 0}
        return answer(message, [{"uri": uri, "range": {"start": place, "end": place}}] if answers.get("found") else [])
    if method == "textDocument/diagnostic" and behaviour == "pulls-and-publishes":
        return answer(message, {"kind": "full", "items": [problem("asked, it says " + texts[uri].split("\n")[0])]})
    if method == "textDocument/diagnostic" and behaviour in ("answers-of-later", "answers-slowly-of-later"):
        def of_later():
            answer(message, {"kind": "full", "items": [problem("it says " + texts.get(uri, "nothing").split("\n")[0])]})
        # The slow one takes longer than another session waits for the answer.
        return threading.Timer(0.5 if behaviour == "answers-of-later" else 3, of_later).start()
    if method == "textDocument/diagnostic" and behaviour == "hears-changes":
        beside = uri.replace("a.nasty", "b.nasty")
        words = heard.get(beside) or open(beside.removeprefix("file://")).read()
        return answer(message, {"kind": "full", "items": [problem("beside it says " + words.split("\n")[0])]})
    if method == "textDocument/diagnostic":
        return write({"id": message["id"], "error": {"code": -32603, "message": "no problems today"}})
    if method == "textDocument/codeAction" and params["context"].get("only") == ["source.sort"]:
        return answer(message, [{"title": "Sort", "kind": "source.sort", "edit": edit(uri, "sorted")}])
    if method == "textDocument/codeAction":
        kinds = [d["message"] for d in params["context"]["diagnostics"]]
        return answer(message, [
            {"title": "Mend it", "kind": "quickfix", "isPreferred": True, "edit": edit(uri, "ten"), "diagnostics": []},
            {"title": "Ask to edit", "kind": "quickfix", "command": {"title": "x", "command": "nasty.edit", "arguments": [uri]}},
            {"title": "Burn it down", "kind": "refactor", "command": {"title": "x", "command": "nasty.burn"}},
            {"title": "Knows of " + ", ".join(kinds), "kind": "refactor.x", "disabled": {"reason": "only a remark"}},
        ])
    if method == "workspace/executeCommand":
        answers["commands"] = number = answers.get("commands", 0) + 1
        if behaviour == "late-command" and number == 1:
            time.sleep(5)
        words = "asked %d" % number if behaviour == "late-command" else "asked"
        said = ask("workspace/applyEdit", {"edit": edit(params["arguments"][0], words)})
        log.append("applied: %s" % said["result"]["applied"])
        if not said["result"]["applied"]:
            # As clangd and gopls do.
            why = "edits were not applied: " + said["result"]["failureReason"]
            return write({"id": message["id"], "error": {"code": -32001, "message": why}})
        return answer(message, None)
    if method in ("textDocument/formatting", "textDocument/rangeFormatting") and behaviour in ("formats-never", "formats-when-let"):
        root = answers["root"].removeprefix("file://")
        # So that it can be known from outside how often it was asked.
        open(root + "/asked-to-format", "a").write("x")
        if behaviour == "formats-never":
            return
        while not os.path.exists(root + "/may-format"):
            time.sleep(0.01)
    if method in ("textDocument/formatting", "textDocument/rangeFormatting"):
        return answer(message, tidied(texts[uri].split("\n"), params.get("range")))
    if method == "workspace/diagnostic" and behaviour == "pulls-for-ever":
        return
    if method == "workspace/diagnostic":
        late = 1 if behaviour == "pulls-old" else 0
        return answer(message, {"items": [
            {"kind": "full", "uri": of, "version": versions[of] - late, "items": [problem("asked, it says " + text.split("\n")[0])]}
            for of, text in texts.items()
        ] + [{"kind": "full", "uri": answers["root"] + "/c.nasty", "version": None, "items": [problem("never opened")]}]})
    if method == "textDocument/rename" and behaviour == "renames-slowly":
        return threading.Timer(4, answer, (message, edit(uri, params["newName"]))).start()
    if method == "textDocument/rename" and behaviour == "slow":
        return answer(message, edit(answers["root"] + "/c.nasty", params["newName"]))
    if method == "textDocument/rename":
        return answer(message, edit(uri, params["newName"]))
    if method == "shutdown":
        log[:] = ["asked first"]
        return answer(message, None)
    write({"id": message["id"], "error": {"code": -32601, "message": "not known"}})


def capabilities():
    if behaviour == "can-nothing":
        return {}
    can = {name + "Provider": True for name in ["definition", "hover", "rename", "executeCommand"]}
    can["codeActionProvider"] = True
    if behaviour.startswith("finds-files"):
        can["referencesProvider"] = True
    if behaviour in ("pull-fails", "pulls-and-publishes", "answers-of-later", "answers-slowly-of-later", "hears-changes"):
        can["diagnosticProvider"] = {"interFileDependencies": True, "workspaceDiagnostics": False}
    can["textDocumentSync"] = {"openClose": True, "change": 1, "save": True}
    if behaviour.startswith("formats"):
        can["documentFormattingProvider"] = True
        can["documentRangeFormattingProvider"] = behaviour != "formats-whole-texts"
    if behaviour in ("utf-8", "utf-32"):
        can["positionEncoding"] = behaviour
    if behaviour in ("pulls-all", "pulls-old", "pulls-for-ever"):
        can["diagnosticProvider"] = {"interFileDependencies": True, "workspaceDiagnostics": True}
    return can


def handle(message):
    method, params = message.get("method"), message.get("params") or {}
    if method is None:
        return
    document = params.get("textDocument") or {}
    if method == "initialize":
        answers["root"] = params["rootUri"]
        if behaviour == "never-starts":
            return
        if behaviour == "dies-at-once":
            print("no such interpreter", file=sys.stderr, flush=True)
            os._exit(1)
        answer(message, {"capabilities": capabilities(), "serverInfo": {"name": "nasty", "version": "0.1"}})
    elif method == "initialized":
        said = ask("workspace/configuration", {"items": [{"section": "nasty.level"}, {"section": "other"}]})
        log.append("configuration: %s" % json.dumps(said["result"]))
        log.append("unknown request: %s" % ask("nasty/tellMeAll", {})["error"]["code"])
        if behaviour in ("empty-while-reading", "reads-for-ever"):
            progress("begin", title="Reading", percentage=3)
        if behaviour == "finds-files":
            threading.Timer(1.5, found).start()
        if behaviour == "watches":
            watchers = {"watchers": [{"globPattern": "**"}]}
            of = {"id": "w", "method": "workspace/didChangeWatchedFiles", "registerOptions": watchers}
            ask("client/registerCapability", {"registrations": [of]})
        if behaviour == "tells-of-all":
            publish(answers["root"] + "/c.nasty", None, "never opened")
    elif method == "textDocument/didOpen":
        log.append("open %s: %s" % (document["languageId"], document["text"]))
        changed(document, document["text"])
    elif method == "textDocument/didChange":
        log.append("change: " + params["contentChanges"][0]["text"])
        heard[document["uri"]] = params["contentChanges"][0]["text"]
        changed(document, params["contentChanges"][0]["text"])
        if behaviour == "empty-while-reading":
            pass
    elif method == "workspace/didChangeWatchedFiles":
        log.extend("%s: %d" % (change["uri"].split("/")[-1], change["type"]) for change in params["changes"])
    elif method == "textDocument/didClose":
        log.append("close")
        texts.pop(document["uri"], None)
        if behaviour == "late-problems":
            tell("textDocument/publishDiagnostics", {"uri": document["uri"], "diagnostics": []})
    elif method == "$/cancelRequest":
        log.append("cancel")
    elif method == "exit":
        if behaviour == "says-goodbye":
            open(answers["root"].removeprefix("file://") + "/goodbye", "w").write(" ".join(log))
        sys.exit(0)
    elif "id" in message:
        request(message)
        if behaviour == "empty-while-reading" and method == "textDocument/definition" and not answers.get("read"):
            time.sleep(0.8)
            answers["read"] = True
            progress("end")


while True:
    handle(held.pop(0) if held else read())
