"""What outlives a call: encrypted collections, search in them, consent, artifacts, tamper-evident logs; and what the
processes of a machine, or several machines, share.

Imports `plugins`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .backplane import RUN_FOLDER, open_backplane
    from .backplane_local import LocalCounters, local_backplane
    from .backplane_redis import redis_backplane
    from .backup import Backup, BackupError, make_backup, read_backup, restore_backup
    from .bounds import configure
    from .redis_link import RedisSettings, check_redis, read_redis_settings, read_state_settings
    from .redis_store import RedisStore
    from .audit_log import AuditRecord, AuditTrail, audit_key, audit_path, open_audit, read_rows, verify
    from .consent import add_member, check_space, decide, list_members, remove_member
    from .files import STATE_FILE, FileLock, append_whole, sync_folder, write_whole
    from .hash_chain import ChainedLog, ChainVerdict, RowFormat
    from .keys import load_master_keys, load_previous_key
    from .null_collections import NullCollections
    from .state import Artifacts, StateStores, local_owner, open_state
    from .store import StateStore, open_memory, open_store

__getattr__ = exports(
    __name__,
    {
        "backplane": "RUN_FOLDER open_backplane",
        "backplane_local": "LocalCounters local_backplane",
        "backplane_redis": "redis_backplane",
        "backup": "Backup BackupError make_backup read_backup restore_backup",
        "bounds": "configure",
        "redis_link": "RedisSettings check_redis read_redis_settings read_state_settings",
        "redis_store": "RedisStore",
        "audit_log": "AuditRecord AuditTrail audit_key audit_path open_audit read_rows verify",
        "consent": "add_member check_space decide list_members remove_member",
        "files": "STATE_FILE FileLock append_whole sync_folder write_whole",
        "hash_chain": "ChainedLog ChainVerdict RowFormat",
        "keys": "load_master_keys load_previous_key",
        "null_collections": "NullCollections",
        "state": "Artifacts StateStores local_owner open_state",
        "store": "StateStore open_memory open_store",
    },
)
