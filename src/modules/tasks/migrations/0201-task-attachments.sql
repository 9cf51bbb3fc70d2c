-- Files of tasks. What people see of them also stands in tasks.attachments, so that reading a task needs no other table.
CREATE TABLE task_attachments (
  tenant_id     uuid           NOT NULL,
  task_id       uuid           NOT NULL,
  id            uuid           NOT NULL,
  blob_id       uuid           NOT NULL,
  name          text           NOT NULL,
  size          bigint         NOT NULL,
  content_type  text           NOT NULL,
  sha256        bytea          NOT NULL,
  created_by    uuid           NOT NULL,
  created_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, task_id, id),
  FOREIGN KEY (tenant_id, task_id) REFERENCES tasks (tenant_id, id) ON DELETE CASCADE
);

-- Whatever deletes attachments, a purge of their task included, lets go of their bytes.
CREATE FUNCTION task_attachments_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM blob_release(g.tenant_id, array_agg(g.blob_id)) FROM gone g GROUP BY g.tenant_id;
  RETURN NULL;
END $$;
CREATE TRIGGER task_attachments_gone AFTER DELETE ON task_attachments
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION task_attachments_gone();
