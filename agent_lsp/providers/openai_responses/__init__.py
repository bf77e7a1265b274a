"""The Responses dialect of OpenAI and of those who imitate it."""
