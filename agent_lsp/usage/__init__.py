"""What was used and what it cost: a row for each request to a model, and what the rows add up to."""
