-- The roles of users on forms: of the owner, and those given to the user or to a group of the user. A user may have several.
CREATE VIEW form_grants AS
SELECT form.tenant_id, form.id AS form_id, form.owner_id AS user_id, 'owner'::form_role AS role FROM forms form
UNION ALL
SELECT access.tenant_id, access.form_id, access.principal_id, access.role FROM form_access access WHERE access.principal_kind = 'user'
UNION ALL
SELECT access.tenant_id, access.form_id, membership.user_id, access.role
  FROM form_access access
  JOIN group_memberships membership ON membership.tenant_id = access.tenant_id AND membership.group_id = access.principal_id
 WHERE access.principal_kind = 'group';

-- The users to whom, or to a group of whom, a report is shared.
CREATE VIEW form_report_readers AS
SELECT viewer.tenant_id, viewer.report_id, viewer.principal_id AS user_id
  FROM form_report_viewers viewer WHERE viewer.principal_kind = 'user'
UNION ALL
SELECT viewer.tenant_id, viewer.report_id, membership.user_id
  FROM form_report_viewers viewer
  JOIN group_memberships membership ON membership.tenant_id = viewer.tenant_id AND membership.group_id = viewer.principal_id
 WHERE viewer.principal_kind = 'group';
