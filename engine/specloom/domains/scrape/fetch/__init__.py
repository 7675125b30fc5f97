"""How a page is fetched: tiers as a fallback chain, politeness, robots, block pages, worker processes."""
