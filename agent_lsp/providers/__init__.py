"""The models: adapters between the message model and the dialects of providers, over httpx."""
