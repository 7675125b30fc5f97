"""Specs changed one detail at a time: examples must notice."""
