"""A client of the server in two dozen lines: runs a prompt, shows the answer as it streams, asks about changes."""

import json
import subprocess
import sys

server = subprocess.Popen(["agent-lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    server.stdin.flush()


def read():
    length = int(server.stdout.readline().split(b":")[1])
    return json.loads(server.stdout.read(2 + length))  # an empty line, then the message


agent = {"protocolVersion": 1, "approve": True}
send(id=1, method="initialize", params={"capabilities": {"experimental": {"agent": agent}}})
send(id=2, method="agent/run", params={"input": sys.argv[1]})
while (message := read()).get("id") != 2 or "method" in message:
    if message.get("method") == "agent/message":
        fragments = (one["payload"] for one in message["params"]["messages"])
        print(*(one["text"] for one in fragments if one["type"] == "partial_text"), sep="", end="", flush=True)
    elif message.get("method") == "agent/approve":
        allowed = input(f"\n{message['params']['title']}? [y/n] ") == "y"
        send(id=message["id"], result={"decision": "allow" if allowed else "deny"})
print("\n" + message["result"]["status"])
send(id=3, method="shutdown")
server.stdin.close()  # the server ends with its input
server.wait()
