"""Examples in specs, run offline through the code that serves."""
