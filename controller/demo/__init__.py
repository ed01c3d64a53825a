"""`trimtab demo`: the simulated cluster live behind its exporters' texts, with real Prometheus and Alertmanager."""
