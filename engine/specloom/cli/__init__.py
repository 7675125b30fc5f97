"""The command line: parsing of arguments and printing, nothing else.

Imports every room; imported by none.
"""
