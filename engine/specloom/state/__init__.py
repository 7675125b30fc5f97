"""What a server remembers: declared collections of sealed records, each seen by its owner alone."""
