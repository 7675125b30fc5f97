"""Results become MCP: one protocol core, two hosts for stdio, and the contract between them and the engine."""
