"""First drafts of specs, from a name and a sample of a reply."""
