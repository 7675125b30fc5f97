"""Converters: one text or number in, one typed value out, or the reason why not."""
