"""The Chat Completions dialect, as OpenAI speaks it and as the many servers that imitate it do."""
