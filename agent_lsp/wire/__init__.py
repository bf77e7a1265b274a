"""What every front end speaks over: JSON-RPC, its transport, and the answering of requests. Nothing here knows a method."""
