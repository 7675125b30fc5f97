"""The functions that expressions may call, each with a signature, a docstring and examples."""
