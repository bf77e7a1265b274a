"""The LSP front end: JSON-RPC over stdio, sockets and WebSockets."""
