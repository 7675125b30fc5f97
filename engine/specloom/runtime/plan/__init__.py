"""The run of a tool's plan: strategies, stages, collected rows, notices."""
