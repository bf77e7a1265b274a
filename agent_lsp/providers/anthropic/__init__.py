"""The Messages dialect of Anthropic."""
