-- Who may do what in a workspace: groups of people, and what each group allows. Access to single objects (a note, a
-- folder) is not decided here but with the object.

-- One row for each workspace. Every change of groups, members and grants first raises `version`: that locks out other
-- changes of the same workspace until the commit, and tells readers that what they remember is out of date.
CREATE TABLE tenant_rbac (
  tenant_id  uuid    PRIMARY KEY REFERENCES tenants (id),
  version    bigint  NOT NULL DEFAULT 1
);

CREATE TABLE rbac_groups (
  tenant_id      uuid        NOT NULL REFERENCES tenants (id),
  id             uuid        NOT NULL,
  -- For programs; never changes.
  key            text        NOT NULL,
  name           text        NOT NULL,
  -- The name as it is compared and found: folded.
  folded         text        NOT NULL,
  description    text        NOT NULL DEFAULT '',
  -- owners, admins and members: made with the workspace, neither renamed nor deleted.
  system         boolean     NOT NULL DEFAULT false,
  -- Place in lists: the system groups, then all others by name.
  rank           int         NOT NULL DEFAULT 9,
  -- Rows of rbac_members; the members group has none, everybody active belongs to it.
  members_count  int         NOT NULL DEFAULT 0,
  rev            int         NOT NULL DEFAULT 1,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  updated_at     timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, key),
  UNIQUE (tenant_id, folded)
);
CREATE INDEX rbac_groups_list ON rbac_groups (tenant_id, rank, folded);

CREATE TABLE rbac_members (
  tenant_id   uuid        NOT NULL,
  group_id    uuid        NOT NULL,
  user_id     uuid        NOT NULL,
  -- Null: the operator.
  added_by    uuid,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, group_id, user_id),
  FOREIGN KEY (tenant_id, group_id) REFERENCES rbac_groups (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);
CREATE INDEX rbac_members_user ON rbac_members (tenant_id, user_id);

-- What the groups allow. The owners group allows everything, also what later versions add, and has no rows.
CREATE TABLE rbac_grants (
  tenant_id   uuid        NOT NULL,
  group_id    uuid        NOT NULL,
  permission  text        NOT NULL,
  granted_by  uuid,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, group_id, permission),
  FOREIGN KEY (tenant_id, group_id) REFERENCES rbac_groups (tenant_id, id) ON DELETE CASCADE
);

-- Workspaces that exist already: their owners and admins become members of those groups.
INSERT INTO tenant_rbac (tenant_id) SELECT id FROM tenants;
INSERT INTO rbac_groups (tenant_id, id, key, name, folded, description, system, rank)
SELECT t.id,
       -- A UUIDv7: functions such as uuid_v7() do not exist while migrations run.
       (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
       g.key, g.name, g.key, g.description, true, g.rank
  FROM tenants t CROSS JOIN (VALUES
    ('owners', 'Owners', 'May do everything.', 1),
    ('admins', 'Admins', 'Run the workspace.', 2),
    ('members', 'Members', 'Everybody of the workspace.', 3)) AS g (key, name, description, rank);
INSERT INTO rbac_grants (tenant_id, group_id, permission)
SELECT g.tenant_id, g.id, p.permission FROM rbac_groups g JOIN (VALUES
    ('admins', 'tenant.read'), ('admins', 'tenant.manage'), ('admins', 'rbac.read'), ('admins', 'rbac.manage'),
    ('admins', 'users.deactivate'), ('admins', 'chat.rooms.create'), ('admins', 'chat.rooms.moderate'),
    ('admins', 'chat.messages.delete_any'), ('admins', 'calls.start'), ('admins', 'calls.record'),
    ('admins', 'calls.moderate'), ('admins', 'guests.invite'), ('admins', 'guests.review'),
    ('admins', 'guest_domains.review'), ('admins', 'recordings.read_any'), ('admins', 'forms.create'),
    ('admins', 'forms.manage_any'), ('admins', 'forms.export_any'), ('admins', 'reports.share'),
    ('admins', 'contacts.global.manage'), ('admins', 'calendar.holidays.manage'), ('admins', 'audit.read'),
    ('members', 'chat.rooms.create'), ('members', 'calls.start'), ('members', 'guests.invite'),
    ('members', 'forms.create'), ('members', 'reports.share')) AS p (key, permission) ON p.key = g.key
 WHERE g.system;
INSERT INTO rbac_members (tenant_id, group_id, user_id)
SELECT m.tenant_id, g.id, m.user_id FROM tenant_members m
  JOIN rbac_groups g ON g.tenant_id = m.tenant_id AND g.system AND g.key = m.role || 's' WHERE m.role <> 'member';
UPDATE rbac_groups g SET members_count = (
  SELECT count(*) FROM rbac_members m WHERE m.tenant_id = g.tenant_id AND m.group_id = g.id);
