"""A model server on loopback that answers by a script, in the format of OpenAI's Chat Completions."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def says(text):
    """An answer in words."""
    return [{"content": text}]


def calls(tool, **arguments):
    """An answer that calls a tool."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return [{"tool_calls": [{"index": 0, "id": f"call-{tool}", "type": "function", "function": function}]}]


class ModelServer:
    """Answers each request with the next of the script. What was asked is in `asked`; `wrong` says what was not in it."""

    def __init__(self, script):
        self.asked = []
        self.wrong = []
        answers = iter(script)
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append(asked)
                answer = next(answers, None)
                if answer is None or not self.path.endswith("/chat/completions"):
                    server.wrong.append(f"nothing was scripted for request {len(server.asked)} ({self.path})")
                    self.send_error(400)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                finish = "tool_calls" if "tool_calls" in answer[-1] else "stop"
                for delta in [*answer, {}]:
                    self.chunk({"index": 0, "delta": delta, "finish_reason": None if delta else finish})
                self.wfile.write(b"data: [DONE]\n\n")

            def chunk(self, choice):
                chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

            def log_message(self, *_):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()
