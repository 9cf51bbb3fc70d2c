-- Time zones of members as other modules read them. Null: not set.
CREATE VIEW member_time_zones AS SELECT tenant_id, user_id, timezone AS time_zone FROM user_profiles;
