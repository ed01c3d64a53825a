"""What the collector tells Prometheus: GPU texts read, one snapshot published, one HTTP server. I/O."""
