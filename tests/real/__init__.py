"""Recorded answers of real upstreams against the shipped specs."""
