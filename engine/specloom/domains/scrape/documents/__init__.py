"""PDF, Word, PowerPoint and Excel files become Markdown with their metadata, within limits."""
