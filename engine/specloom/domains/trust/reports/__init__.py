"""Findings as a document to hand in: one form of what it says, written as HTML, Markdown or DOCX."""
