"""The browser tier: launch, pages, consent walls, its proxy through the guarded transport."""
