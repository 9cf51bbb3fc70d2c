-- A contact with the external_id of a deleted one continues its revisions.
CREATE INDEX contacts_gone_external_id ON contacts (tenant_id, addressbook_id, external_id) WHERE gone_at IS NOT NULL;
