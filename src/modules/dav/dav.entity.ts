import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** The name of an event in the path of its calendar, where it does not follow from the UID; or of a task in its folder, by their ids. */
@Entity('dav_names')
@Index('dav_names_uid', ['tenantId', 'calendarId', 'uid'], { unique: true })
@Index('dav_names_checked', ['checkedAt'])
export class DavName {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'calendar_id' }) calendarId!: string;
  @PrimaryColumn('text') name!: string;
  @Column('text') uid!: string;
  @Column('timestamptz', { name: 'checked_at' }) checkedAt!: Date;
}

/** Properties of a collection that the server does not know, as one user has set them. */
@Entity('dav_properties')
@Index('dav_properties_user', ['tenantId', 'userId'])
@Index('dav_properties_calendar', ['tenantId', 'calendarId'], { where: 'calendar_id IS NOT NULL' })
@Index('dav_properties_folder', ['tenantId', 'taskFolderId'], { where: 'task_folder_id IS NOT NULL' })
@Index('dav_properties_addressbook', ['tenantId', 'addressbookId'], { where: 'addressbook_id IS NOT NULL' })
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
@ForeignKey('Calendar', ['tenantId', 'calendarId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('TaskFolder', ['tenantId', 'taskFolderId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('Addressbook', ['tenantId', 'addressbookId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class DavProperties {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'collection_id' }) collectionId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('uuid', { name: 'calendar_id', nullable: true }) calendarId!: string | null;
  @Column('uuid', { name: 'task_folder_id', nullable: true }) taskFolderId!: string | null;
  @Column('uuid', { name: 'addressbook_id', nullable: true }) addressbookId!: string | null;
  /** XML by name. */
  @Column('jsonb') properties!: Record<string, string>;
}
