"""Search results read and ranked: the best passages of several pages."""
