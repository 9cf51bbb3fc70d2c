-- The triggers also fire with session_replication_role = replica, which a superuser may set for a connection.
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_no_rewrite;
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_no_removal;
