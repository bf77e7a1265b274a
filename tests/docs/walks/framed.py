"""JSON-RPC with a child process, in frames or in lines, with the standard library alone."""

import json
import subprocess


class Peer:
    """`answer` gets each request of the server and returns the result."""

    def __init__(self, command, answer, framed=True):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answer, self._framed, self._number = answer, framed, 0
        self.heard = []

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        head = b"Content-Length: %d\r\n\r\n" % len(body) if self._framed else b""
        self._process.stdin.write(head + body + (b"" if self._framed else b"\n"))
        self._process.stdin.flush()

    def ask(self, method, params):
        self._number += 1
        self.send(id=self._number, method=method, params=params)
        while True:
            message = self._read()
            self.heard.append(message)
            if "method" not in message:
                if message["id"] == self._number:
                    return message["result"]
            elif "id" in message:
                self.send(id=message["id"], result=self._answer(message["method"], message["params"]))

    def leave(self):
        self._process.stdin.close()
        self._process.wait(10)

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the server has ended")
        if not self._framed:
            return json.loads(line)
        self._process.stdout.readline()
        return json.loads(self._process.stdout.read(int(line.split(b":")[1])))
