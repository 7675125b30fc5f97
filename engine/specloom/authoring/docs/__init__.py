"""Reference pages, tables and registry metadata, generated from the specs."""
