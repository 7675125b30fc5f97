"""Serving over HTTP: identities of callers, the ASGI adapter, limits of what many callers may ask.

Imports `server` and the floors below.
"""
