-- Short hashes of the values of the cards that the device sent. NULL: an item of an earlier release, or more values than an item keeps.
ALTER TABLE contact_import_items ADD COLUMN value_hashes bytea;
