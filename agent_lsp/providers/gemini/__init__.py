"""The generateContent dialect of Gemini, on the Gemini API and on Vertex AI."""
