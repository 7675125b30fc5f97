-- The tables of a store. `place` is the tag of the owner or of the shared space; `author` that of who wrote, whose salt is
-- in the key.
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS owners (tag BLOB PRIMARY KEY, tenant BLOB NOT NULL, salt BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS owners_by_tenant ON owners (tenant);
CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL, place BLOB NOT NULL, name BLOB NOT NULL, author BLOB NOT NULL,
    version INTEGER NOT NULL, created REAL NOT NULL, changed REAL NOT NULL, used REAL NOT NULL, expires REAL,
    last INTEGER NOT NULL, size INTEGER NOT NULL, value BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS items_by_name ON items (collection, place, name);
CREATE INDEX IF NOT EXISTS items_by_use ON items (collection, place, used, expires, size);
CREATE INDEX IF NOT EXISTS items_by_author ON items (author);
CREATE INDEX IF NOT EXISTS items_by_place ON items (place);
CREATE INDEX IF NOT EXISTS items_by_end ON items (expires) WHERE expires IS NOT NULL;
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL, at REAL NOT NULL, value BLOB NOT NULL, UNIQUE (item, seq));
CREATE TABLE IF NOT EXISTS marks (
    item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE, tag BLOB NOT NULL,
    PRIMARY KEY (tag, item)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS marks_by_item ON marks (item);
CREATE TABLE IF NOT EXISTS vectors (
    item INTEGER PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE, version INTEGER NOT NULL, value BLOB NOT NULL);
