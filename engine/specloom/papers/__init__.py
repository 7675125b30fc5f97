"""Papers that are resolved, fetched once and kept in a store that people and other programs read."""

from __future__ import annotations

from . import envelopes as envelopes
from . import procedures as procedures
from . import procedures_discovery as procedures_discovery
from . import procedures_instance as procedures_instance
from . import procedures_store as procedures_store
from . import procedures_texts as procedures_texts
