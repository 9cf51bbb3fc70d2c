-- The revision of `original`. NULL: an import of an earlier release, or a contact without a card from before the import.
ALTER TABLE contact_import_items ADD COLUMN original_revision int;
