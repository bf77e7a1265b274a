"""Spans and metrics of sessions for a team's own tracing system, by OpenTelemetry's conventions; off by default."""
