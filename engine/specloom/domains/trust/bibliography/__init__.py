"""Bibliographies: read from what reference managers write, written for them and for people."""
