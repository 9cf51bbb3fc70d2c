import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

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
