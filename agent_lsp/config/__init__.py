"""Configuration: layers of plain data, one validated model."""
