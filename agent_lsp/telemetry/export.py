"""Where spans and metrics go: over OTLP to a collector, in threads of the SDK's, so that no run waits for one.

`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_RESOURCE_ATTRIBUTES` and their like count as they do
everywhere.
"""

from __future__ import annotations

import threading

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from agent_lsp import __version__
from agent_lsp.telemetry import names
from agent_lsp.telemetry.observer import Instruments

_SCOPE = "agent_lsp"


class Exporter:
    """The instruments of a process, and their way out. `processor` and `reader` are where it leads."""

    def __init__(self, processor: SpanProcessor, reader: MetricReader, *, has_content: bool) -> None:
        resource = Resource.create({"service.name": "agent-lsp", "service.version": __version__})
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._spans.add_span_processor(processor)
        self._metrics = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        meter = self._metrics.get_meter(_SCOPE, __version__, names.SCHEMA_URL)
        self.instruments = Instruments(
            self._spans.get_tracer(_SCOPE, __version__, schema_url=names.SCHEMA_URL),
            meter.create_histogram(
                names.DURATION,
                "s",
                "How long requests to models took.",
                explicit_bucket_boundaries_advisory=names.DURATION_BUCKETS_S,
            ),
            meter.create_histogram(
                names.TOKENS,
                "{token}",
                "Tokens of requests to models.",
                explicit_bucket_boundaries_advisory=names.TOKEN_BUCKETS,
            ),
            has_content,
            {},
        )

    def close(self, within_s: float) -> bool:
        """Sends what is left; whether that was done in time. A collector that does not answer is not waited for."""

        def shut_down() -> None:
            self._spans.shutdown()
            self._metrics.shutdown()

        thread = threading.Thread(target=shut_down, name="telemetry", daemon=True)
        thread.start()
        thread.join(within_s)
        return not thread.is_alive()


def over_otlp(endpoint: str | None, *, has_content: bool) -> Exporter:
    """An exporter to a collector; without an address, to the one that the environment names."""
    base = endpoint.rstrip("/") if endpoint else None
    spans = OTLPSpanExporter(f"{base}/v1/traces") if base else OTLPSpanExporter()
    metrics = OTLPMetricExporter(f"{base}/v1/metrics") if base else OTLPMetricExporter()
    return Exporter(BatchSpanProcessor(spans), PeriodicExportingMetricReader(metrics), has_content=has_content)
