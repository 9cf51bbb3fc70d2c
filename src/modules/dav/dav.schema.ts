import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

/** The name of an event in the path of its calendar, where it does not follow from the UID; or of a task in its folder, by their ids. */
@Entity('dav_names')
@Index('dav_names_uid', ['tenant_id', 'calendar_id', 'uid'], { unique: true })
@Index('dav_names_checked', ['checked_at'])
export class DavName {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') calendar_id!: string;
  @PrimaryColumn('text') name!: string;
  @Column('text') uid!: string;
  @Column('timestamptz') checked_at!: Date;
}

/** Properties of a collection that the server does not know, as one user has set them. */
@Entity('dav_properties')
@Index('dav_properties_user', ['tenant_id', 'user_id'])
@Index('dav_properties_calendar', ['tenant_id', 'calendar_id'], { where: 'calendar_id IS NOT NULL' })
@Index('dav_properties_folder', ['tenant_id', 'task_folder_id'], { where: 'task_folder_id IS NOT NULL' })
@Index('dav_properties_addressbook', ['tenant_id', 'addressbook_id'], { where: 'addressbook_id IS NOT NULL' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
@ForeignKey('Calendar', ['tenant_id', 'calendar_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('TaskFolder', ['tenant_id', 'task_folder_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('Addressbook', ['tenant_id', 'addressbook_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class DavProperties {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') collection_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('uuid', { nullable: true }) calendar_id!: string | null;
  @Column('uuid', { nullable: true }) task_folder_id!: string | null;
  @Column('uuid', { nullable: true }) addressbook_id!: string | null;
  /** XML by name. */
  @Column('jsonb') properties!: Record<string, string>;
}

export const davSchema: SchemaPart = {
  owner: 'dav',
  entities: { workspace: [DavName, DavProperties] },
  growth: {
    cleanedBy: { 'dav.forget-names': ['dav_names'] },
    content: ['dav_properties'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Dav1798809000001: '0001-dav',
    DavProperties1798814000001: '0002-dav-properties',
  }),
};
