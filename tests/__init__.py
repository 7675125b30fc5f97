"""The tests of specloom, in the rooms of what they test; `support` is what they share."""
