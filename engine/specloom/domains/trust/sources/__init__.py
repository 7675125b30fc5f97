"""What a source is: kind, promotion, conflicts of interest, live and archived links."""
