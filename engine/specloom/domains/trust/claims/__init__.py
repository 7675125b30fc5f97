"""Whether a text covers a claim: words, negation, quantities, contradiction cues."""
