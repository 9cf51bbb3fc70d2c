-- Types of events that are appended only for workspaces in which a consumer wants them, with those that do.
CREATE TABLE event_interests (
  tenant_id  uuid NOT NULL,
  type       text NOT NULL,
  holder     uuid NOT NULL,
  PRIMARY KEY (tenant_id, type, holder)
);
CREATE INDEX event_interests_holder ON event_interests (tenant_id, holder);
