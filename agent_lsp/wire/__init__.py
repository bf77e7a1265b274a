"""What every front end speaks over: JSON-RPC, its transport, the answering of requests. It knows no method."""
