"""What a researcher keeps between calls: sessions, notes, shared findings, watched questions.

Imports `domains.text`, `domains.trust` and `domains.scrape`.
"""
