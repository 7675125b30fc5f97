"""The start of a provider from an operation of an OpenAPI description (3.0 to 3.2)."""
