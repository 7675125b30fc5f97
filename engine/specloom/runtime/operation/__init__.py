"""The run of one operation of a provider: request, response, rows, paging, OAuth. It sends nothing itself."""
