"""specloom compiles YAML specs into MCP tools."""



__version__ = "0.1.0"
