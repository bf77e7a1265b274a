"""The record of what a session did, on disk."""
