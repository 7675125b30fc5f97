"""The start of a provider from an operation of an OpenAPI description (3.0 or 3.1)."""
