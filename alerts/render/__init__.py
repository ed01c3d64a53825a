"""Rules as files: Prometheus, PrometheusRule, Alertmanager, reference pages. Makes text; `__main__` alone writes it."""
