"""Incremental computation of verdicts: a file is checked anew where something changed that it read.

`facts` lets specs read each other and records what they read, `memory` keeps verdicts on disk, and `verdicts` checks.
"""
