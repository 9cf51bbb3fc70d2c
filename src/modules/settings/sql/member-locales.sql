-- Time zones and locales of members as other modules read them. Null means that the member has set none.
CREATE VIEW member_locales AS SELECT tenant_id, user_id, timezone AS time_zone, locale FROM user_profiles;
