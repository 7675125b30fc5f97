"""Decoders: bytes of a response become data: JSON, XML, HTML, CSV, JSON-stat, SDMX."""
