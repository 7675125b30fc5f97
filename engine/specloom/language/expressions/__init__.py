"""JMESPath expressions: parsed, type-checked, compiled to closures; a reference interpreter beside them."""
