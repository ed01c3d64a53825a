"""The embedded cluster of `trimtab demo`: its processes and the texts of its exporters."""
