-- The permission to transfer the content of members, for the admins groups of existing workspaces.
INSERT INTO rbac_grants (tenant_id, group_id, permission)
SELECT tenant_id, id, 'users.transfer' FROM rbac_groups WHERE system AND key = 'admins' ON CONFLICT DO NOTHING;
UPDATE tenant_rbac SET version = version + 1;
